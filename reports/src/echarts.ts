// SPDX-License-Identifier: Apache-2.0
// What the charts use of Apache ECharts.
import { BarChart, CustomChart, HeatmapChart, LineChart, ParallelChart, ScatterChart } from "echarts/charts";
import { AriaComponent, GridComponent, LegendComponent, MarkLineComponent, ParallelComponent, TooltipComponent, VisualMapContinuousComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { LabelLayout } from "echarts/features";
import { CanvasRenderer } from "echarts/renderers";

use([BarChart, CustomChart, HeatmapChart, LineChart, ParallelChart, ScatterChart, AriaComponent, GridComponent, LegendComponent,
  MarkLineComponent, ParallelComponent, TooltipComponent, VisualMapContinuousComponent, LabelLayout, CanvasRenderer]);

export { init };
