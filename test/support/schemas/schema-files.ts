import { existsSync, globSync, readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { eventCatalogue } from '../../../src/api/document/event-types.ts';
import type { EventSchemas } from './schema-breaks.ts';

/** The repository's folder of schemas, with a slash at its end. */
export const schemasFolder = new URL('../../../schemas/', import.meta.url);

/** The schemas of one release, in `schemas/released/<version>.json`. */
export interface Release {
  readonly version: string;
  readonly events: EventSchemas;
}

/** A break that is meant, in `schemas/released/breaks.json` until the next release. */
export interface MeantBreak {
  readonly place: string;
  readonly change: string;
  /** For whom it is worth it, as CHANGELOG.md says to receivers. */
  readonly why: string;
}

/** The version of the package. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../package.json', schemasFolder), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** The schemas as the code has them now. */
export function presentSchemas(): EventSchemas {
  return Object.fromEntries(eventCatalogue().map(({ type, schema }) => [type, schema]));
}

/** The files of the folder as the code has them, by their paths below it. */
export async function presentFiles(): Promise<ReadonlyMap<string, string>> {
  const written = await Promise.all(
    eventCatalogue().map(async ({ type, schema, example }) => {
      const path = `events/${type}.json`;
      return [path, await fileText(path, { ...schema, examples: [example] })] as const;
    }),
  );
  return new Map(written);
}

/** The text of a file of the folder, as prettier wants it. */
export async function fileText(path: string, value: object): Promise<string> {
  const filepath = new URL(path, schemasFolder).pathname;
  return format(JSON.stringify(value), { ...(await resolveConfig(filepath)), filepath });
}

/** The files that are there beside the releases, by their paths. */
export function committedFiles(): ReadonlyMap<string, string> {
  const paths = globSync('events/*.json', { cwd: schemasFolder.pathname });
  return new Map(paths.map((path) => [path, readFileSync(new URL(path, schemasFolder), 'utf8')]));
}

/** The last release, the only one that is kept; null before the first one. */
export function lastRelease(): Release | null {
  const [path] = globSync('released/[0-9]*.json', { cwd: schemasFolder.pathname });
  return path === undefined
    ? null
    : (JSON.parse(readFileSync(new URL(path, schemasFolder), 'utf8')) as Release);
}

/** The breaks that are declared. */
export function meantBreaks(): readonly MeantBreak[] {
  const file = new URL('released/breaks.json', schemasFolder);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as MeantBreak[]) : [];
}
