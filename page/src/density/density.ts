/** How much a place matters, for the picture; the simulation integrates on the server. */

import type { MovingTable } from "../world/world";
import { isRaster, rasterDensity } from "./raster";

export type Density = (z: readonly number[]) => number;

export interface Peak {
  center: number[];
  rate?: number;
  covariance?: number[][];
  weight?: number;
}

export interface DensityTable {
  kind: string;
  level?: number;
  terms?: number[][];
  origin?: number[];
  parts?: DensityTable[];
  center?: number[];
  rate?: number;
  covariance?: number[][];
  weight?: number;
}

/** The inverse of a small symmetric matrix, by Gauss and Jordan. */
export function inverse(matrix: readonly (readonly number[])[]): number[][] {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...matrix.map((_, j) => (i === j ? 1 : 0))]);
  for (let k = 0; k < n; k++) {
    const pivot = rows
      .slice(k)
      .reduce((best, row, i) => (Math.abs(row[k]) > Math.abs(rows[best][k]) ? k + i : best), k);
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    const scale = rows[k][k];
    rows[k] = rows[k].map((v) => v / scale);
    for (let i = 0; i < n; i++) {
      const share = rows[i][k];
      if (i !== k) rows[i] = rows[i].map((v, j) => v - share * rows[k][j]);
    }
  }
  return rows.map((row) => row.slice(n));
}

function gaussian(table: DensityTable): Density {
  const center = table.center ?? [];
  const weight = table.weight ?? 1;
  if (table.covariance) {
    const form = inverse(table.covariance);
    return (z) => {
      let q = 0;
      for (let i = 0; i < center.length; i++)
        for (let j = 0; j < center.length; j++) q += (z[i] - center[i]) * form[i][j] * (z[j] - center[j]);
      return weight * Math.exp(-q / 2);
    };
  }
  const rate = table.rate ?? 1;
  return (z) => {
    let q = 0;
    for (let i = 0; i < center.length; i++) q += (z[i] - center[i]) ** 2;
    return weight * Math.exp(-rate * q);
  };
}

function polynomial(table: DensityTable): Density {
  const terms = table.terms ?? [];
  const origin = table.origin ?? [];
  return (z) =>
    terms.reduce((sum, term) => {
      let value = term[term.length - 1];
      for (let i = 0; i + 1 < term.length; i++) value *= (z[i] - (origin[i] ?? 0)) ** term[i];
      return sum + value;
    }, 0);
}

/** The density that a table describes; null where only Python can evaluate it. */
export function densityOf(table: DensityTable | undefined): Density | null {
  switch (table?.kind ?? "uniform") {
    case "uniform":
      return () => table?.level ?? 1;
    case "gaussian":
      return gaussian(table as DensityTable);
    case "polynomial":
      return polynomial(table as DensityTable);
    case "raster":
      return isRaster(table) ? rasterDensity(table) : null;
    case "mixture": {
      const parts = (table?.parts ?? []).map(densityOf);
      if (parts.some((part) => part === null)) return null;
      return (z) => parts.reduce((sum, part) => sum + (part as Density)(z), 0);
    }
    default:
      return null;
  }
}

/** The peaks of a density that can be dragged. */
export function peaksOf(table: DensityTable | undefined): DensityTable[];
export function peaksOf(table: MovingTable | undefined): MovingTable[];
export function peaksOf(table: MovingTable | undefined): MovingTable[] {
  if (table?.kind === "gaussian") return [table];
  if (table?.kind === "mixture") return (table.parts ?? []).filter((part) => part.kind === "gaussian");
  return [];
}

/** A density with other peaks; what is not a peak stays. */
export function withPeaks(table: DensityTable | undefined, peaks: readonly DensityTable[]): DensityTable;
export function withPeaks(table: MovingTable | undefined, peaks: readonly MovingTable[]): MovingTable;
export function withPeaks(table: MovingTable | undefined, peaks: readonly MovingTable[]): MovingTable {
  const rest = table?.kind === "mixture" ? (table.parts ?? []).filter((p) => p.kind !== "gaussian") : [];
  const others =
    table && table.kind !== "mixture" && table.kind !== "gaussian" && table.kind !== "uniform"
      ? [table]
      : rest;
  const parts = [...others, ...peaks];
  if (parts.length === 0) return { kind: "uniform" };
  return parts.length === 1 ? parts[0] : { kind: "mixture", parts };
}

/** The radius at which a peak has fallen to exp(-1/2) of its height, along its widest axis. */
export function widthOf(peak: DensityTable): number {
  if (peak.covariance) return Math.sqrt(Math.max(...peak.covariance.map((row, i) => row[i])));
  return Math.sqrt(0.5 / (peak.rate ?? 1));
}
