import { prettyFactory } from 'pino-pretty';

// Escapes in JSON, and what a terminal acts on that JSON leaves as it is: further control characters, format
// characters (bidi overrides among them), line and paragraph separators.
const risky = /\\u00[01][\da-f]|\\.|[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/giu;

/**
 * Writes a line of JSON for a person at a terminal, in colours where asked for; it ends in a line break. No
 * text of a partner service, receiver or client in it can move the cursor: what could is replaced.
 */
export function createPrettyLine({ colours }: { readonly colours: boolean }): (line: string) => string {
  const pretty = prettyFactory({
    colorize: colours,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,hostname',
    singleLine: true,
  });
  return (line) => {
    const text = pretty(line.trimEnd().replaceAll(risky, harmless));
    return typeof text === 'string' && text !== '' ? text : line;
  };
}

// Escapes of quotes, backslashes, tabs and line breaks, and the beginnings of others.
const harmlessEscapes = /^\\["\\/ntu]$/;

function harmless(found: string): string {
  return harmlessEscapes.test(found) ? found : '\u{fffd}';
}
