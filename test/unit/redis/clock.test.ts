import { describe, expect, it } from 'vitest';
import { correctedOffset } from '../../../src/redis/clock.ts';

describe('correctedOffset', () => {
  it.each([
    ['stays where an answer allows it', 100, 95, 105, 100],
    ['moves up only as far as an answer proves', 100, 103, 110, 103],
    ['moves down only as far as an answer proves', 100, 80, 97, 97],
    ['follows a clock that was set back by an hour', 100, -3_600_000, -3_599_990, -3_599_990],
  ])('%s', (_title, offset, least, most, expected) => {
    expect(correctedOffset(offset, least, most)).toBe(expected);
  });
});
