import { pino } from 'pino';
import { expect, test } from 'vitest';
import { flatLines } from '../../../src/monitoring/flat-lines.ts';

test('the lines are those of pino, to the byte, and follow its level', () => {
  const written: string[] = [];
  const logger = pino(
    { level: 'info', timestamp: () => ',"time":1' },
    { write: (line) => written.push(line) },
  );
  const ofAccount = logger.child({ account: 'a "quoted" one' });
  for (const each of [logger, ofAccount, flatLines(logger), flatLines(ofAccount)]) {
    each.debug({ n: 1 }, 'too low');
    each.info(
      { text: 'é \u2028 "\\\n', long: 'x'.repeat(100), n: 1.5, none: null, missing: undefined },
      'a "line"',
    );
    each.warn({ yes: true }, 'b');
  }
  expect(written).toHaveLength(8);
  expect(written.slice(4)).toEqual(written.slice(0, 4));
});
