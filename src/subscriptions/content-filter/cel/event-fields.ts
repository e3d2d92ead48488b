import type { ASTNode } from '@marcbachmann/cel-js';
import { nearName } from '../../../words/near-name.ts';

/** The type of a field in the words of the language, or the fields of an object. */
type Shape = string | Fields;

/** The fields of an object. */
export interface Fields {
  readonly [name: string]: Shape;
}

const texts = (names: string): Fields => Object.fromEntries(names.split(' ').map((name) => [name, 'string']));

// The type of the list of a filing's files.
const fileList = 'list<file>';
/** The fields of one of a filing's files. */
export const file = texts('id name fileName filePath createdAt updatedAt');

/**
 * The fields of a filing that the partner service is known to send (docs/partner.md). It may send others, and
 * a filter may ask for them.
 */
export const filing: Fields = {
  ...texts('id filingType userId filingStateId policyNumber insuredsName carriersName policyEffectiveDate'),
  ...texts('status createdAt completedAt rejectionReason'),
  filingState: texts('id name stateAbbr'),
  premium: 'double',
  userFiles: fileList,
};

/** The fields of `data` in the events of filings (docs/webhooks.md#what-arrives). Others do not occur. */
const data: Fields = {
  ...texts('account filingId status previousStatus rejectionReason completedAt omitted answeredBy'),
  sequence: 'double',
  changed: 'list<string>',
  observed: texts('notBefore notAfter'),
  inferred: 'bool',
  stalled: { ...texts('status since after'), seen: 'bool' },
  note: texts('by kind text assignee'),
  dueAt: 'string',
  due: { ...texts('dueAt threshold'), seen: 'bool' },
  details: {
    ...texts('policyNumber insuredsName stateAbbr filingType carriersName createdAt'),
    ...texts('policyEffectiveDate endorsementEffectiveDate endorsementNumber'),
    premium: 'double',
  },
  filing,
};

/** The event, as its callbacks carry it. */
export const event: Fields = { type: 'string', timestamp: 'string', data };

/** The names with which an expression begins: `event`, its members, and `filing` for `data.filing`. */
export const eventNames: Fields = { event, ...event, filing };

/** The type of a part of an expression, or the fields of an object; undefined if nothing is known of it. */
export function shapeOf(node: ASTNode): Shape | undefined {
  if (node.op === 'id') return eventNames[node.args];
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const of = shapeOf(node.args[0]);
  if (node.op === '[]') return of === fileList ? file : undefined;
  return typeof of === 'object' && Object.hasOwn(of, node.args[1]) ? of[node.args[1]] : undefined;
}

/** Whether the partner service may send fields in this object that are not known. */
export function isOpen(fields: Fields): boolean {
  return fields === filing || fields === filing['filingState'] || fields === file;
}

// The fields' paths, each by its last name; of several with one name that of every event is first.
const paths = new Map([
  ...[...pathsIn(filing, 'filing'), ...pathsIn(data, 'data')].toReversed(),
  ...Object.keys(data).map((name) => [name, `data.${name}`] as const),
]);

function pathsIn(fields: Fields, before: string): (readonly [string, string])[] {
  return Object.entries(fields).flatMap(([name, shape]) => {
    const path = `${before}.${name}`;
    return [[name, path], ...(typeof shape === 'object' && shape !== filing ? pathsIn(shape, path) : [])];
  });
}

/** What is wrong with a name that no event has, and a name that it is likely meant to be. */
export function unknownName(name: string): string {
  const names = Object.keys(eventNames);
  const meant =
    paths.get(name) ?? nearName(name, names) ?? paths.get(nearName(name, [...paths.keys()]) ?? '');
  return `${name} is not known${didYouMean(meant)} A path begins with one of ${names.join(', ')}`;
}

/**
 * What is wrong with a field that is not among those known of the object at a path; null if the partner
 * service may send it.
 */
export function unknownField(fields: Fields, path: string, name: string): string | null {
  const known = Object.keys(fields);
  const near = nearName(name, known);
  const elsewhere = paths.get(name);
  const meant = near === null ? elsewhere : `${path}.${near}`;
  if (!isOpen(fields)) return `${path} has no field ${name}${didYouMean(meant)} Known: ${known.join(', ')}`;
  // A file, too, may have a field that the filing has, and the filing one that `data` has.
  if (meant === undefined) return null;
  if (near === null && (fields !== filing || !meant.startsWith('filing.'))) return null;
  const anyway = `write ${path}["${name}"] if the partner service really sends that`;
  return `${path} has no known field ${name}${didYouMean(meant)} Otherwise ${anyway}`;
}

const loops =
  'filters have no loops over lists, because nothing bounds what these take; use `in`, size(…) or one item, as in filing.userFiles[0].name';

// Parts of the language that filters lack, with the text to write in their place.
const notHere: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['all', 'exists', 'exists_one', 'filter', 'map'].map((name) => [name, loops])),
  matches:
    'filters have no regular expressions, because a search with one may take any time; use contains, startsWith or endsWith',
  timestamp: 'filters have no times; compare the texts, as in filing.policyEffectiveDate >= "2026-11-01"',
};

/** What is wrong with a function that is not among those known, and what to write in its place. */
export function unknownFunction(name: string, known: readonly string[]): string {
  if (Object.hasOwn(notHere, name)) return `${name}: ${notHere[name]}`;
  return `there is no function ${name}${didYouMean(nearName(name, known))} Known: ${known.join(', ')}`;
}

function didYouMean(meant: string | null | undefined): string {
  return meant == null ? '.' : `; did you mean ${meant}?`;
}
