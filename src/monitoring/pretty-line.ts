import { prettyFactory } from 'pino-pretty';

/** Writes a line of JSON for a person at a terminal, in colours where asked for; it ends in a line break. */
export function createPrettyLine({ colours }: { readonly colours: boolean }): (line: string) => string {
  const pretty = prettyFactory({
    colorize: colours,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,hostname',
    singleLine: true,
  });
  return (line) => {
    const text = pretty(line.trimEnd());
    return typeof text === 'string' && text !== '' ? text : line;
  };
}
