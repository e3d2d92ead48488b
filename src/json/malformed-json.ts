/** Where a text stops being JSON (RFC 8259), and what is missing there. */
export interface JsonFault {
  /** Number of characters before the fault; the length of the text where it ends too early. */
  readonly at: number;
  readonly expected: string;
}

const blank = /[ \t\r\n]*/y;
// A string up to its closing quote, or up to the first character that a string cannot hold.
// oxlint-disable-next-line no-control-regex
const openString = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y;

type Step = 'value' | 'first item' | 'name' | 'first name' | 'colon' | 'end of item';

const wanted: Readonly<Record<Step, string>> = {
  value: 'a value',
  'first item': 'a value or ]',
  name: 'a name in double quotes',
  'first name': 'a name in double quotes or }',
  colon: 'a colon',
  'end of item': 'a comma',
};

/**
 * The first fault of a text that `JSON.parse` refuses, null where the text is JSON; pure. Node's own message
 * gives the place of some faults only. The time is linear in the length of the text.
 */
export function findJsonFault(text: string): JsonFault | null {
  const open: ('{' | '[')[] = [];
  let step = 'value' as Step;
  let at = skip(text, 0);
  for (;;) {
    const char = text[at];
    const inside = open.at(-1);
    const isClosed: boolean =
      (char === '}' && inside === '{' && (step === 'first name' || step === 'end of item')) ||
      (char === ']' && inside === '[' && (step === 'first item' || step === 'end of item'));
    if (isClosed) {
      open.pop();
      at += 1;
      step = 'end of item';
    } else if (step === 'end of item') {
      if (inside === undefined) return at === text.length ? null : { at, expected: 'the end' };
      if (char !== ',') return { at, expected: `${wanted[step]} or ${inside === '{' ? '}' : ']'}` };
      at += 1;
      step = inside === '{' ? 'name' : 'value';
    } else if (step === 'colon') {
      if (char !== ':') return { at, expected: wanted[step] };
      at += 1;
      step = 'value';
    } else if (char === '"') {
      const end = match(openString, text, at);
      if (text[end] !== '"') return { at: end, expected: 'the end of the text in double quotes' };
      at = end + 1;
      step = step === 'name' || step === 'first name' ? 'colon' : 'end of item';
    } else if (step === 'name' || step === 'first name') {
      return { at, expected: wanted[step] };
    } else if (char === '{' || char === '[') {
      open.push(char);
      at += 1;
      step = char === '{' ? 'first name' : 'first item';
    } else {
      const end = match(scalar, text, at);
      if (end === at) return { at, expected: wanted[step] };
      at = end;
      step = 'end of item';
    }
    at = skip(text, at);
  }
}

function skip(text: string, from: number): number {
  return match(blank, text, from);
}

// The end of what matches from a place on; the place itself where nothing does.
function match(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}
