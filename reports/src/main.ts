// SPDX-License-Identifier: Apache-2.0
import { readOverview } from "./document";
import { Figure } from "./figure";
import { showPage } from "./page";

void showPage(readOverview());
Figure.followTheme();
