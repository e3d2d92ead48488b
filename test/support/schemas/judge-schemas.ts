import { schemaBreaks, type EventSchemas } from './schema-breaks.ts';
import type { MeantBreak, Release } from './schema-files.ts';

/**
 * What is wrong with the schemas of now beside the last release, one line each; pure. A break is in order where
 * it is declared, and a declaration where it is of a break.
 */
export function judgeSchemas(
  release: Release | null,
  present: EventSchemas,
  meant: readonly MeantBreak[],
): string[] {
  const breaks = schemaBreaks(release?.events ?? {}, present);
  const isSame = (a: { place: string; change: string }, b: typeof a) =>
    a.place === b.place && a.change === b.change;
  const undeclared = breaks.filter((found) => !meant.some((one) => isSame(one, found)));
  const stale = meant.filter((one) => !breaks.some((found) => isSame(one, found)));
  const hollow = meant.filter(({ why }) => why.trim() === '');
  return [
    ...undeclared.map(
      ({ place, change, detail }) =>
        `${place}: ${detail} (${change}). Since ${release?.version ?? ''} receivers rely on it: keep it, or, where it is meant, ` +
        `add { "place": "${place}", "change": "${change}", "why": "…" } to schemas/released/breaks.json and a line for receivers to CHANGELOG.md`,
    ),
    ...stale.map(
      ({ place, change }) =>
        `${place}: schemas/released/breaks.json declares ${change}, which is not so: remove it`,
    ),
    ...hollow.map(({ place }) => `${place}: schemas/released/breaks.json does not say why`),
  ];
}

/** The files that differ from the code, one line each; pure. */
export function judgeFiles(
  present: ReadonlyMap<string, string>,
  committed: ReadonlyMap<string, string>,
): string[] {
  const paths = [...new Set([...present.keys(), ...committed.keys()])];
  return paths
    .filter((path) => present.get(path) !== committed.get(path))
    .map((path) => `schemas/${path}: is not as the code has it: run npm run schemas`);
}
