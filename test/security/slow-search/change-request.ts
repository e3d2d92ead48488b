import { pick, wholeNumber, type Random } from '../../../src/sandbox/random.ts';
import { bodyBytesMax, headBytesMax, headLength, type HttpRequest } from './http-request.ts';

type Change = (text: string, room: number, random: Random, words: readonly string[], other: string) => string;

/** Names of headers that something on the way of a request reads. */
const headerNames = [
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'content-encoding',
  'content-type',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'idempotency-key',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'last-event-id',
  'origin',
  'range',
  'traceparent',
  'user-agent',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-request-id',
];
const pieces = [
  ...' \t019aAz,;:=&?/\\.-+_*"\'<>[]{}()@#~|',
  '0,',
  '{},',
  '[],',
  'null,',
  '"",',
  '%00',
  '%25',
  '%F0%9F%98%80',
  'a=&',
  'a,',
  'a.',
  'a;',
  ';q=0.',
  '", "',
  '://',
  '..',
  '\\"',
  '\\u0000',
  '\u00e9',
  '\u{1F600}',
  'e\u0301',
];

/**
 * A request made of another by a few random changes: mostly it grows, by repeating, numbering, nesting or
 * crossing parts of it; pure but for `random`. It never grows beyond what Node and the API take.
 */
export function changeRequest(
  request: HttpRequest,
  other: HttpRequest,
  words: readonly string[],
  random: Random,
): HttpRequest {
  let next = request;
  for (let left = wholeNumber(random, 1, 3); left > 0; left -= 1)
    next = changeOnce(next, other, words, random);
  return next;
}

function changeOnce(
  request: HttpRequest,
  other: HttpRequest,
  words: readonly string[],
  random: Random,
): HttpRequest {
  const headRoom = Math.max(0, headBytesMax - headLength(request));
  const bodyRoom = Math.max(0, bodyBytesMax - Buffer.byteLength(request.body));
  const change = pick(random, changes);
  const roll = random();
  if (request.body !== '' && roll < 0.5) {
    const isText = random() < 0.4;
    const made = isText
      ? change(request.body, bodyRoom, random, words, other.body)
      : changeJson(request.body, bodyRoom, random, words);
    return Buffer.byteLength(made) > bodyBytesMax ? request : { ...request, body: made };
  }
  if (roll < 0.75)
    return {
      ...request,
      target: plain(change(request.target, headRoom, random, words, other.target)).replaceAll(' ', '+'),
    };
  return { ...request, headers: changeHeaders(request, change, headRoom, random, words, other) };
}

function changeHeaders(
  { headers }: HttpRequest,
  change: Change,
  room: number,
  random: Random,
  words: readonly string[],
  other: HttpRequest,
): HttpRequest['headers'] {
  const at = wholeNumber(random, 0, Math.max(0, headers.length - 1));
  const [name, value] = headers[at] ?? ['x-a', ''];
  const roll = random();
  if (roll < 0.3)
    return [...headers, [pick(random, headerNames), plain(pick(random, [...words, ...pieces]))]];
  if (roll < 0.35) return headers.filter((_, index) => index !== at);
  if (roll < 0.45) {
    const copies = Math.min(1_900, Math.floor((room * random()) / (name.length + value.length + 4)));
    return [...headers, ...Array.from({ length: copies }, () => [name, value] as const)];
  }
  const given = other.headers.find(([known]) => known === name)?.[1] ?? '';
  const changed = plain(change(value, room, random, words, given));
  return headers.map((header, index) => (index === at ? [name, changed] : header));
}

// A line break would end the line, and no character beyond Latin-1 can be sent.
function plain(text: string): string {
  return text.replaceAll(/[\r\n\0]|[^\0-\xff]/gu, '');
}

const changes: readonly Change[] = [
  repeatInside,
  repeatInside,
  (text, room, random, words) => insert(text, random, repeated(piece(text, random, words), room, random)),
  (text, room, random, words) => insert(text, random, numbered(piece(text, random, words), room, random)),
  (text, room, random, words) => insert(text, random, between(text, room, random, words)),
  (text, _room, random, words) => insert(text, random, piece(text, random, words)),
  (text, _room, random) => {
    const at = wholeNumber(random, 0, text.length);
    return text.slice(0, at) + text.slice(at + wholeNumber(random, 1, 16));
  },
  (text, room, random, _words, other) =>
    text.slice(0, wholeNumber(random, 0, text.length)) +
    other.slice(wholeNumber(random, 0, other.length)).slice(0, room),
];

function insert(text: string, random: Random, made: string): string {
  const at = random() < 0.4 ? text.length : wholeNumber(random, 0, text.length);
  return text.slice(0, at) + made + text.slice(at);
}

function piece(text: string, random: Random, words: readonly string[]): string {
  const at = wholeNumber(random, 0, Math.max(0, text.length - 1));
  const own = text.slice(at, at + wholeNumber(random, 1, 12));
  const chosen = [pick(random, pieces), pick(random, pieces), pick(random, words), own];
  return pick(random, chosen.filter((one) => one !== '').concat('a'));
}

// The longer, the more it shows: half of them fill all the room that there is.
function room(of: number, random: Random): number {
  return random() < 0.5 ? of : Math.floor(of * random() ** 2);
}

function repeated(one: string, of: number, random: Random): string {
  return one.repeat(Math.floor(room(of, random) / Math.max(1, Buffer.byteLength(one))));
}

function numbered(one: string, of: number, random: Random): string {
  const count = Math.floor(room(of, random) / (Buffer.byteLength(one) + 4));
  return Array.from({ length: count }, (_, i) => `${i.toString(36)}${one}`).join('');
}

function between(text: string, of: number, random: Random, words: readonly string[]): string {
  const half = Math.floor(of / 2);
  return (
    repeated(piece(text, random, words), half, random) + repeated(piece(text, random, words), half, random)
  );
}

function repeatInside(text: string, of: number, random: Random): string {
  const at = wholeNumber(random, 0, Math.max(0, text.length - 1));
  const part = text.slice(at, at + wholeNumber(random, 1, 8));
  return part === '' ? text : text.slice(0, at) + repeated(part, of, random) + text.slice(at);
}

type Holder = Record<string, unknown>;

/** Makes one value of a JSON text long, wide or deep; leaves other texts as they are. */
function changeJson(text: string, of: number, random: Random, words: readonly string[]): string {
  try {
    const root = { '': JSON.parse(text) as unknown };
    const [holder, key] = pick(random, placesOf(root, 4));
    const value = holder[key];
    const size = (one: unknown) => JSON.stringify(one ?? null).length + 1;
    const fill = (one: unknown) => Math.floor(room(of, random) / size(one));
    const word = pick(random, [...words, ...pieces]);
    const plainValue = pick(random, [0, null, '', {}, [], true, 1e300, word, value]);
    const makes: readonly (() => unknown)[] = [
      () => Array.from({ length: fill(plainValue) }, () => plainValue),
      () => Array.from({ length: fill('12345') }, (_, i) => i.toString(36)),
      () =>
        Object.fromEntries(Array.from({ length: fill('123456789') }, (_, i) => [i.toString(36), plainValue])),
      () => repeated(word, of, random),
      () => nested(value, wholeNumber(random, 1, 30)),
      () => `${String(value)}${repeated(word, of, random)}`,
      () => plainValue,
    ];
    const made = pick(random, makes)();
    const name = Array.isArray(holder) || random() < 0.8 ? key : word;
    Object.defineProperty(holder, name, {
      value: made,
      enumerable: true,
      writable: true,
      configurable: true,
    });
    return JSON.stringify(root['']) ?? '';
  } catch {
    return text;
  }
}

function placesOf(holder: object, levels: number): [Holder, string][] {
  return Object.entries(holder)
    .slice(0, 20)
    .flatMap(([key, value]: [string, unknown]) => {
      const inner =
        typeof value === 'object' && value !== null && levels > 0 ? placesOf(value, levels - 1) : [];
      return [[holder as Holder, key] as [Holder, string], ...inner];
    });
}

function nested(value: unknown, levels: number): unknown {
  return levels === 0 ? value : nested([value], levels - 1);
}
