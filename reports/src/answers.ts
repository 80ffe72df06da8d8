// SPDX-License-Identifier: Apache-2.0
// What the parts about kernels and sizes say, in sentences made of their tables.
import {
  rowsOf, type ConvergenceSection, type DistributionSection, type EnergySection, type FailuresSection, type FinalistsSection, type ImportanceSection, type KernelSection,
  type KernelSummary, type Outcome, type PerformanceSection, type Result, type Row, type SearchSection, type SharesBySize, type SizeSection, type SpreadSection, type Table, type Words,
} from "./document";
import { bytes, count, duration, factor, plural, share, significant, time } from "./format";

const kNear = 1.05; // times the best is close to it
const kFewestTrials = 30; // below, nothing is known of importance
const kMostRuns = 3; // in a sentence

const kInWords: Record<Outcome, string> = {
  ok: "succeeded", compile_error: "did not compile", compile_timeout: "took the compiler too long", launch_error: "did not launch", wrong_result: "computed a wrong result",
  out_of_bounds: "accessed memory out of bounds", nondeterministic: "gave different results from the same input", timeout: "took too long", crashed: "crashed",
  unstable: "could not be timed", implausible: "was faster than the device can be", quarantined: "was not run again after crashing",
};

const sum = (rows: Row[], key: string): number => rows.reduce((total, row) => total + (row[key] as number), 0);

// ---- verdicts ----

const failuresOf = ({ sections }: KernelSummary) => sections.find((one): one is FailuresSection => one.kind === "failures");

/** Why a size has no result. */
function withoutSuccess(kernel: KernelSummary, label: string): string {
  const failures = failuresOf(kernel), rows = failures ? rowsOf(failures.table).filter(({ size }) => size === label) : [];
  if (rows.length === 0) return "nothing has been tried yet.";
  const commonest = rows.reduce((most, row) => (row.count as number) > (most.count as number) ? row : most);
  return `none of ${count(sum(rows, "count"))} trials succeeded; ${count(commonest.count as number)} ${kInWords[commonest.outcome as Outcome]}.`;
}

/** "4096×4096×4096: gemm_shared runs at 25.1 TFLOP/s, 49.2 % of cuBLAS and 3.2× its default configuration; …" */
export function sizeVerdict(kernel: KernelSummary, label: string, result: Result | null): string {
  if (!result) return `${label}: ${withoutSuccess(kernel, label)}`;
  const { ns, rate, unit, measure, confirmed, library, ratio, gain, ties } = result;
  const speed = `${label}: ${kernel.kernel} ${rate === null ? `runs in ${time(ns)}` : `runs at ${significant(rate, 4)}\u00a0${unit}`}`;
  if (!confirmed) return `${speed}; screening time only, not re-timed.`;
  const beside = [
    ...(ratio === null ? [] : [`${share(ratio)} of ${library}`]),
    ...(gain === null ? [] : [`${factor(gain)} its default configuration${measure === "cold" ? "" : " in cold launches"}`]),
  ];
  const tied = ties > 0 ? `; ${plural(ties, "other finalist is", "other finalists are")} not shown to be over 1\u00a0% slower` : "";
  return `${speed}${beside.length > 0 ? `, ${beside.join(" and ")}` : ""}${tied}.`;
}

/** The verdict of the largest size, how several sizes range, and why the kernel is unproven, where it is. */
export function kernelVerdict(kernel: KernelSummary): string {
  const { largest: { label, result }, types, unproven } = kernel;
  const ranges = result ? types.flatMap(({ type, sizes, library, ratio, gain }) => {
    const parts = [
      ...(ratio ? [`${share(ratio[0])} to ${share(ratio[1])} of ${library}`] : []),
      ...(gain ? [`${factor(gain[0])} to ${factor(gain[1])} the default, cold`] : []),
    ];
    return parts.length === 0 ? [] : [` Over ${sizes} sizes${types.length > 1 ? ` of ${type}` : ""} it reaches ${parts.join(" and ")}.`];
  }) : [];
  return `${sizeVerdict(kernel, label, result)}${ranges.join("")}${unproven === "" ? "" : ` Unproven: ${unproven}.`}`;
}

// ---- kernels ----

function performance({ table, library }: PerformanceSection): string {
  const known = rowsOf(table).filter(({ ratio }) => ratio !== null).sort((a, b) => (a.ratio as number) - (b.ratio as number));
  if (known.length === 0) return "No library was timed beside this kernel.";
  const at = ({ size, ratio }: Row) => `at ${size} (${share(ratio as number)})`;
  const worst = known[0], best = known[known.length - 1], wins = known.filter(({ ratio }) => (ratio as number) > 1).length;
  if (known.length === 1) return `It reaches ${share(best.ratio as number)} of ${library}.`;
  return `${wins === 0 ? `${library} is faster at every size` : `This kernel is faster than ${library} at ${wins} of ${known.length} sizes`}; the best ratio is ${at(best)}, the worst ${at(worst)}.`;
}

function failures({ table, tried }: FailuresSection): string {
  const rows = rowsOf(table), lost = sum(rows, "count");
  if (tried === 0) return "Nothing was tried.";
  if (lost === 0) return `All ${count(tried)} trials compiled, ran and computed the right result.`;
  const causes = [...new Set(rows.map(({ outcome }) => outcome as Outcome))].map((outcome): [number, string] => [sum(rows.filter((row) => row.outcome === outcome), "count"), kInWords[outcome]]);
  const parts = causes.sort(([a], [b]) => b - a).map(([n, words]) => `${count(n)} ${words}`);
  return `${count(lost)} of ${count(tried)} trials failed (${share(lost / tried)}): ${parts.join(", ")}.`;
}

function budget(table: Table): string {
  const rows = rowsOf(table), spent = (key: string) => duration(sum(rows, key));
  return `${spent("wall_s")} in ${plural(rows.length, "run")}: ${spent("compile_s")} compiling (beside the rest, summed over all compilers), ${spent("verify_s")} verifying, ${spent("measure_s")} measuring.`;
}

function energy({ table }: EnergySection): string {
  const rows = rowsOf(table), sizes = [...new Set(rows.map(({ size }) => size))];
  const both = sizes.filter((size) => rows.filter((row) => row.size === size && row.pareto === "yes").length === 1).length;
  return `At ${count(both)} of ${plural(sizes.length, "size")} one contender is the fastest and takes the least energy.`;
}

/** "A explains 60 % of the variance of log time (95 %: 50 % to 70 %), B 20 % (10 % to 30 %). From 400 trials." */
function importance({ table, trials }: ImportanceSection | SpreadSection, within: string, at: string): string {
  if (trials < kFewestTrials) return `Unknown: ${kFewestTrials} successful trials are needed; there ${trials === 1 ? "is" : "are"} ${count(trials)}.`;
  const [first, second] = rowsOf(table);
  if (!first) return "No parameter changed the time.";
  const interval = ({ low, high }: Row) => `${share(low as number)} to ${share(high as number)}`;
  const next = second ? `, ${second.parameter} ${share(second.share as number)} (${interval(second)})${second.high! >= first.low! ? "; their order is not certain" : ""}` : "";
  return `${first.parameter} explains ${share(first.share as number)} of the variance of log time${within} (95\u00a0%: ${interval(first)})${next}. From ${count(trials)} trials${at}.`;
}

/** "Most important: TILE_M at 43 sizes, PAD at 2 sizes. Not known at 3 sizes: …" */
function importanceBySize({ table, sizes }: SharesBySize): string {
  const firsts = table.rows.flatMap(([, ...shares]) => {
    const most = Math.max(...shares.map((one) => (one ?? 0) as number));
    return most > 0 ? [shares.indexOf(most)] : [];
  });
  const counted = table.columns.slice(1).map(({ label }, i): [string, number] => [label, firsts.filter((first) => first === i).length]).filter(([, n]) => n > 0).sort(([, a], [, b]) => b - a);
  const unknown = sizes - table.rows.length;
  return [
    ...(counted.length > 0 ? [`Most important: ${counted.map(([name, n]) => `${name} at ${plural(n, "size")}`).join(", ")}.`] : []),
    ...(unknown > 0 ? [`Not known at ${plural(unknown, "size")}: fewer than ${kFewestTrials} successful trials, or all as fast.`] : []),
  ].join(" ");
}

// ---- sizes ----

const kImported = "The results were imported: no run here.";

const kEnded = {
  converged: "", exhausted: " Every configuration was tried.", few_trials: ` Fewer than ${kFewestTrials} trials: more may find a faster one.`,
  improving: " The best still improved in the last fifth of the trials: more may find a faster one.",
};

function convergence({ table, runs }: ConvergenceSection): string {
  const steps = rowsOf(table);
  if (runs.length === 0) return kImported;
  if (steps.length === 0) return "No trial succeeded.";
  const fastest = Math.min(...steps.map(({ ns }) => ns as number)), earlier = runs.length - kMostRuns;
  const named = runs.slice(-kMostRuns).reverse().map(({ run, trials, elapsed_s }) => {
    const near = steps.find((step) => step.run === run && (step.ns as number) <= kNear * fastest);
    const when = near ? `after ${count(near.trial as number)} of ${plural(trials, "trial")} (${duration(near.elapsed_s as number)} of ${duration(elapsed_s)})` : `not in ${plural(trials, "trial")}`;
    return `${runs.length > 1 ? `run ${run} ` : ""}${when}`;
  });
  return `Within 5\u00a0% of the fastest: ${named.join("; ")}.${earlier > 0 ? ` ${plural(earlier, "run")} before them in the table.` : ""}${kEnded[runs[runs.length - 1].state]}`;
}

function distribution({ table, near, median }: DistributionSection): string {
  if (median === null) return "No trial succeeded.";
  return `${count(near)} of ${count(sum(rowsOf(table), "count"))} successful trials ${near === 1 ? "is" : "are"} within 5\u00a0% of the fastest; the median one takes ${factor(median / (table.rows[0][0] as number))} as long.`;
}

function leftOut([resumed, told, elsewhere]: number[]): string {
  const parts = [
    [resumed, "run that reused earlier results", "runs that reused earlier results"], [told, "run that started from an earlier winner", "runs that started from an earlier winner"],
    [elsewhere, "run of another environment", "runs of another environment"],
  ] as [number, string, string][];
  const said = parts.filter(([n]) => n > 0).map(([n, one, several]) => plural(n, one, several));
  return said.length === 0 ? "" : ` Left out: ${said.join(", ")}.`;
}

function search({ table, curves, left_out, best_ns }: SearchSection): string {
  const rows = rowsOf(table), runs = [...new Set(rows.map((row) => row.runs as number))];
  if (curves.length === 0 && left_out.every((n) => n === 0)) return kImported;
  if (best_ns === null) return `No trial succeeded.${leftOut(left_out)}`;
  if (rows.length === 0) return `No run began anew.${leftOut(left_out)}`;
  const soonness = rows.map(({ strategy, candidates_3, seconds_3, reached_3, runs: all }) => {
    if (candidates_3 !== null) return `${strategy} after ${plural(candidates_3 as number, "trial")} (${duration(seconds_3 as number)})`;
    return reached_3 === 0 ? `${strategy} never` : `${strategy} in ${reached_3} of ${all} runs`;
  });
  const basis = Math.max(...runs) === 1 ? "" : runs.length > 1 ? " Medians over the runs of each." : ` Medians of ${runs[0]} runs${rows.length === 1 ? "" : " each"}.`;
  return `Within 3\u00a0% of the best known: ${soonness.join(", ")}.${basis}${leftOut(left_out)}`;
}

/** The rule by which a configuration was preferred to the fastest. */
function rule({ by, numbers }: NonNullable<FinalistsSection["rule"]>): string {
  const [chosen, other] = numbers ?? [0, 0];
  switch (by) {
    case "energy": return `less energy, ${significant(chosen, 4)} J per execution instead of ${significant(other, 4)}`;
    case "incumbent": return "the previous best";
    case "default": return "the default";
    case "resources": return "fewer registers, then less shared memory";
    case "registers": return `fewer registers, ${chosen} instead of ${other}`;
    case "shared_bytes": return `less shared memory, ${bytes(chosen)} instead of ${bytes(other)}`;
    case "order": return "the order of the space";
  }
}

/** How far a winner that is the fastest is ahead. */
function winnerIsFastest(rows: Row[], winner: Row): string {
  const others = rows.filter((row) => row !== winner && !String(row.standing).startsWith("library")).sort((a, b) => (a.ratio as number) - (b.ratio as number));
  if (others.length === 0) return "It is the only configuration.";
  const best = winner.standing === "chosen, best of ours" ? "The library is faster. The chosen one is the best of ours" : "The winner is the fastest";
  const close = others.filter(({ ratio_low }) => ((ratio_low ?? 0) as number) <= 1).length;
  if (close > 0) return `${best}; ${plural(close, "other configuration")} cannot be told from it (95\u00a0%).`;
  const excess = (key: string) => share((others[0][key] as number) - 1);
  return `${best}; the next takes ${excess("ratio")} longer (95\u00a0%: ${excess("ratio_low")} to ${excess("ratio_high")}).`;
}

function finalists(section: FinalistsSection): string {
  const { imported_from, repetitions, card, ties } = section, rows = rowsOf(section.table);
  if (imported_from !== null) {
    return `Imported${imported_from === "" ? "" : ` from ${imported_from}`}: what its line tells of the final round, ${repetitions > 0 ? `${plural(repetitions, "repetition")}, ` : ""}`
      + `in which ${plural(ties, "other finalist was", "other finalists were")} not shown to be over 1\u00a0% slower. Trials and further finalists are in the database that it was measured into.`;
  }
  if (rows.length === 0) return "No final round was run for this size.";
  const timed = `${plural(rows.length, "contender")} timed interleaved${card === "" ? "" : ` on card ${card}`}, ${plural(repetitions, "repetition")}. `;
  const winner = rows.find(({ standing }) => String(standing).startsWith("chosen"));
  if (!winner) return `${timed}The record does not say which of them was chosen.`;
  if (!section.rule) return timed + winnerIsFastest(rows, winner);
  const fastest = rows.find(({ standing }) => standing === "fastest" || standing === "best of ours")!, lead = (key: string) => share(1 / (fastest[key] as number) - 1);
  return `${timed}Chosen among ${count(ties + 1)} that tie with the fastest, by this rule: ${rule(section.rule)}. `
    + ((fastest.ratio_high as number) >= 1 ? "The fastest cannot be told from it (95\u00a0%)." : `The fastest is ${lead("ratio")} ahead of it (95\u00a0%: ${lead("ratio_high")} to ${lead("ratio_low")}).`);
}

/** A part's title and sentence. */
export function wordsOf(section: KernelSection | SizeSection): Words {
  switch (section.kind) {
    case "performance": return { title: "Performance over sizes", answer: performance(section) };
    case "failures": return { title: "Failures by cause", answer: failures(section) };
    case "budget": return { title: "Time budget", answer: budget(section.table) };
    case "energy": return { title: "Time against energy", answer: energy(section) };
    case "importance": return { title: "Importance of the parameters", answer: importance(section, "", "") };
    case "importance_over_sizes": return { title: "Importance of the parameters over sizes", answer: importance(section, " within sizes", ` at ${plural(section.sizes, "size")}`) };
    case "importance_by_size": return { title: "Importance of the parameters size by size", answer: importanceBySize(section) };
    case "convergence": return { title: "Convergence", answer: convergence(section) };
    case "distribution": return { title: "Distribution of all successful trials", answer: distribution(section) };
    case "search": return { title: "How the searches went", answer: search(section) };
    case "heatmap": {
      const { length } = section.parameters;
      return { title: "Two parameters together", answer: length < 2 ? "Shown from two parameters of known importance on." : `The pairs of the ${length} most important parameters.` };
    }
    case "finalists": return { title: "Finalists", answer: finalists(section) };
    case "explanation": return { title: "Why it is this fast", answer: section.answer };
  }
}
