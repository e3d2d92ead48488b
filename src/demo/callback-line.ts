/** Applies a style of `util.styleText` to a text; the caller decides whether there are colours. */
export type Paint = (style: 'green' | 'red' | 'yellow' | 'cyan' | 'dim' | 'bold', text: string) => string;

const styleOf: Readonly<Record<string, Parameters<Paint>[0]>> = {
  UNPAID: 'dim',
  PAID: 'cyan',
  PENDING: 'yellow',
  COMPLETED: 'green',
  REJECTED: 'red',
};

// Control and format characters (bidi overrides among them), line and paragraph separators, lone surrogates.
const notPrintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * One line about a callback: time, `verdict` as it is, status before → after, insured, policy, state and the
 * reason of a rejection. Missing parts are left out. No text of the callback can move the cursor, colour the
 * terminal or start a new line.
 */
export function formatCallback(
  event: unknown,
  paint: Paint,
  verdict: string = paint('green', 'verified'),
): string {
  const status = textAt(event, 'data', 'status');
  const before = textAt(event, 'data', 'previousStatus') || 'new';
  const reason = status === 'REJECTED' ? textAt(event, 'data', 'rejectionReason') : '';
  const about = [
    textAt(event, 'data', 'filing', 'insuredsName') || `filing ${textAt(event, 'data', 'filingId')}`,
    withLabel('policy', textAt(event, 'data', 'filing', 'policyNumber')),
    textAt(event, 'data', 'filing', 'filingState', 'stateAbbr'),
    withLabel('because:', reason),
  ];
  return [
    paint('dim', clock(textAt(event, 'timestamp'))),
    verdict,
    `${paintStatus(before, paint)} → ${paintStatus(status, paint)}`,
    about.filter((part) => part !== '').join(' · '),
  ].join('  ');
}

/**
 * The text without characters that a terminal acts on (each is replaced), at most `lengthMax` characters
 * long.
 */
export function printable(text: string, lengthMax = 80): string {
  const characters = Array.from(text.replaceAll(notPrintable, '\u{fffd}'));
  return characters.length > lengthMax
    ? `${characters.slice(0, lengthMax - 1).join('')}…`
    : characters.join('');
}

function paintStatus(status: string, paint: Paint): string {
  return paint(styleOf[status] ?? 'bold', status.padEnd('COMPLETED'.length));
}

function withLabel(label: string, text: string): string {
  return text === '' ? '' : `${label} ${text}`;
}

function clock(timestamp: string): string {
  const time = new Date(timestamp);
  return Number.isNaN(time.getTime()) ? '--:--:--' : time.toTimeString().slice(0, 8);
}

function textAt(value: unknown, ...path: readonly string[]): string {
  const found = path.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  );
  return typeof found === 'string' ? printable(found) : '';
}
