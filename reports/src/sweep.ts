// SPDX-License-Identifier: Apache-2.0
// What a sweep over sizes says: who is fastest where, without and with the transfers, where the time goes, and what is paid once.
import type { Cell, Column, Kind, Side, Sweep, SweepSection, Table, Transfer, Words } from "./document";
import { factor, sizeLabel } from "./format";

const label = (sweep: Sweep, size: number): string => sizeLabel(sweep.sizes[size].size);
const named = ({ name }: Side, { contender }: { contender: string }): string => `${name} ${contender}`;
const columnsOf = (...columns: [string, string, Kind][]): Column[] => columns.map(([key, label, kind]) => ({ key, label, kind }));

/** The geometric mean of a size's dimensions. */
function meanExtent(size: string): number {
  const extents = size.split(",").filter((part) => !part.includes("=")).map(Number);
  if (extents.length === 0) return 1;
  return extents.reduce((volume, extent) => volume * extent, 1) ** (1 / extents.length);
}

/** What the comparisons of these subjects say, a sentence each behind a space. */
function comparisons(sweep: Sweep, subject: string): string {
  return sweep.comparisons.filter(({ of, leads }) => of === subject && leads.length > 0).map(({ of, between: [a, b], leads }) => {
    const stretches = leads.map(({ faster, first, last }) =>
      `${faster} ${first === last ? `at ${label(sweep, first)}` : `from ${label(sweep, first)} to ${label(sweep, last)}`}`);
    return ` ${a} or ${b}, ${of}: faster is ${stretches.join(", then ")}.`;
  }).join("");
}

/** " Skipped: CPU naive from 2048×2048×2048." */
function skipped(sweep: Sweep): string {
  const first = new Map<string, number>();
  for (const side of sweep.sides) {
    for (const skip of (side.skipped ?? []).filter(({ placement }) => placement === "")) {
      const who = skip.contender === "" ? `${side.name} every contender` : named(side, skip);
      if (!first.has(who)) first.set(who, skip.size);
    }
  }
  const parts = [...first].sort(([a], [b]) => (a < b ? -1 : 1)).map(([who, size]) => `${who} from ${label(sweep, size)}`);
  return parts.length === 0 ? "" : ` Skipped: ${parts.join(", ")}.`;
}

/** A time, or none, of somebody at a size. */
type Timed = [who: string, size: number, ns: number | undefined];
const timesOf = (side: Side): Timed[] => side.times.map((one) => [named(side, one), one.size, one.median_ns]);

/** Times over sizes, a column for each of those that have one. */
function curvesTable(sweep: Sweep, times: Timed[]): Table {
  const names = [...new Set(times.map(([who]) => who))], known = new Map(times.map(([who, size, ns]) => [`${size} ${who}`, ns]));
  return {
    columns: columnsOf(["size", "Size", "text"], ["extent", "Size (mean of the dimensions)", "number"], ...names.map((name): [string, string, Kind] => [name, name, "time"])),
    rows: sweep.sizes.map(({ size }, i): Cell[] => [sizeLabel(size), meanExtent(size), ...names.map((name) => known.get(`${i} ${name}`) ?? null)]),
  };
}

function curves(sweep: Sweep): SweepSection & Words {
  return {
    kind: "curves", title: "Fastest contender over sizes", answer: `The kernel's time.${comparisons(sweep, "the kernel alone")}${skipped(sweep)}`,
    table: curvesTable(sweep, sweep.sides.flatMap(timesOf)),
  };
}

/** Curves of times with the transfers to the device and back, for one way to keep data on the host. */
function transferCurves(sweep: Sweep, name: string): SweepSection & Words {
  const device = sweep.sides[sweep.sides.length - 1];
  const transfers = device.transfers.filter(({ placement }) => placement === name).map((one): Timed => [named(device, one), one.size, one.total_ns]);
  return {
    kind: "curves", title: `With transfers, ${name}`, answer: `Allocation, copies, kernel and free.${comparisons(sweep, `with transfers, ${name}`)}`,
    table: curvesTable(sweep, [...sweep.sides.slice(0, -1).flatMap(timesOf), ...transfers]),
  };
}

/** What a transfer's parts take. */
function split(sweep: Sweep): SweepSection & Words {
  const parts: [keyof Transfer, string][] = [["allocate_ns", "Allocation"], ["to_device_ns", "To the device"], ["kernel_ns", "Kernel"],
    ["to_host_ns", "To the host"], ["free_ns", "Free"], ["total_ns", "Total"]];
  const known = sweep.sides.flatMap(({ transfers }) => transfers.filter(({ total_ns }) => total_ns !== undefined));
  return {
    kind: "split", title: "Parts of a transfer", answer: `Medians of five repetitions after one warm-up.${comparisons(sweep, "with transfers")}`,
    table: {
      columns: columnsOf(["size", "Size", "text"], ["transfer", "Contender, host memory", "text"], ...parts.map(([key, label]): [string, string, Kind] => [key, label, "time"])),
      rows: known.map((one): Cell[] => [label(sweep, one.size), `${one.contender}, ${one.placement}`, ...parts.map(([key]) => one[key] ?? null)]),
    },
  };
}

/** How many times the fastest on the device is faster than the fastest on the processor. */
function ratios(sweep: Sweep): SweepSection & Words {
  const host = sweep.sides[0], device = sweep.sides[sweep.sides.length - 1];
  const shortest = (times: { size: number; ns?: number }[], size: number) => Math.min(...times.flatMap((one) => one.size === size && one.ns !== undefined ? [one.ns] : []));
  const kernels = (side: Side) => side.times.map(({ size, median_ns: ns }) => ({ size, ns }));
  const ways = sweep.placements.map(({ name }) => ({ name, times: device.transfers.filter(({ placement }) => placement === name).map(({ size, total_ns: ns }) => ({ size, ns })) }));
  const over = (one: number, other: number): Cell => Number.isFinite(one) && Number.isFinite(other) ? one / other : null;
  const rows = sweep.sizes.map((_, i): Cell[] => {
    const host_ns = shortest(kernels(host), i);
    return [label(sweep, i), over(host_ns, shortest(kernels(device), i)), ...ways.map(({ times }) => over(host_ns, shortest(times, i)))];
  });
  const last = rows.filter((row) => row[1] !== null).pop();
  return {
    kind: "ratios", title: `${device.name} over ${host.name}`,
    answer: last ? `At ${last[0]} the fastest on ${device.name} is ${factor(last[1] as number)} as fast as the fastest on ${host.name}.` : "",
    table: { columns: columnsOf(["size", "Size", "text"], ["kernel", "Kernel alone", "factor"], ...ways.map(({ name }): [string, string, Kind] => [name, `With transfers, ${name}`, "factor"])), rows },
  };
}

/** By how much each is faster than the slowest at the same size. */
function speedups(sweep: Sweep): SweepSection & Words {
  let answer = "";
  const rows = sweep.sizes.flatMap(({ flops }, i): Cell[][] => {
    const times = sweep.sides.flatMap((side) => side.times.flatMap((one) => one.size === i && one.median_ns !== undefined ? [{ who: named(side, one), ns: one.median_ns, cycles: one.cycles ?? null }] : []))
      .sort((a, b) => a.ns - b.ns);
    if (times.length === 0) return [];
    const slowest = times[times.length - 1];
    answer = `At ${label(sweep, i)} ${times[0].who} is ${(slowest.ns / times[0].ns).toFixed(0)} times as fast as ${slowest.who}.`;
    return times.map(({ who, ns, cycles }) => [label(sweep, i), who, ns, flops > 0 ? flops / ns : null, cycles, slowest.ns / ns]);
  });
  return {
    kind: "speedups", title: "Speed-up", answer,
    table: {
      columns: columnsOf(["size", "Size", "text"], ["contender", "Contender", "text"], ["median_ns", "Cold median", "time"], ["rate", "GFLOP/s", "number"],
        ["cycles", "Cycles", "number"], ["speedup", "Over the slowest", "factor"]), rows,
    },
  };
}

function startUp(sweep: Sweep): SweepSection & Words {
  const pinned = new Map<string, Transfer>(); // by placement, the last size
  for (const one of sweep.sides[sweep.sides.length - 1].transfers) if ((one.pin_ns ?? 0) > 0) pinned.set(one.placement, one);
  const rows = [
    ...sweep.sides.flatMap(({ name, start_up, times }): Cell[][] => [
      [`${name} opening the device`, 1e6 * start_up.device_ms], [`${name} the library's first call`, 1e6 * start_up.library_ms],
      ...times.filter(({ compile_ms }) => compile_ms > 0).map(({ contender, size, compile_ms }): Cell[] => [`compiling ${contender} at ${label(sweep, size)}`, 1e6 * compile_ms])]),
    ...[...pinned].sort(([a], [b]) => (a < b ? -1 : 1)).map(([placement, { size, pin_ns }]): Cell[] => [`host memory, ${placement}, at ${label(sweep, size)}`, pin_ns!]),
  ];
  return { kind: "start_up", title: "One-time costs", answer: "Opening includes loading the library and the compiler.", table: { columns: columnsOf(["what", "Paid once", "text"], ["time_ns", "Time", "time"]), rows } };
}

/** The devices on which a sweep ran. */
export function sweepVerdict(sweep: Sweep): string {
  const sides = sweep.sides.map(({ name, device, backend, cores, compiler, library }) =>
    `${name}: ${device}${backend === "cpu" ? `, ${cores} threads, vectors of ${sweep.vector_bits} bits` : ""} (${compiler}, ${library}). `);
  return sides.join("") + (sweep.agree === true ? "All computed the same on whole numbers, bit for bit." : "");
}

export function sweepSections(sweep: Sweep): (SweepSection & Words)[] {
  const parts = split(sweep);
  const transfers = parts.table.rows.length === 0 ? [] : [...sweep.placements.map(({ name }) => transferCurves(sweep, name)), parts];
  return [curves(sweep), ...transfers, ...(sweep.sides.length > 1 ? [ratios(sweep)] : []), speedups(sweep), startUp(sweep)];
}
