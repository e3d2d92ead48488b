import { expect, test } from 'vitest';
import { judgeAof, type AofFacts } from '../../../../src/redis/durability/aof-rewriter.ts';

const loaded: AofFacts = {
  run: 'r',
  role: 'master',
  enabled: true,
  loading: false,
  baseBytes: 99,
  rewrites: 0,
  underWay: false,
  lastFailed: false,
};

test.each<[string, Partial<AofFacts>, ReturnType<typeof judgeAof>]>([
  ['was loaded at the start', {}, 'wanted'],
  ['was loaded by a server that still loads', { loading: true }, 'needless'],
  ['is new', { baseBytes: 0 }, 'needless'],
  ['is off', { enabled: false }, 'needless'],
  ['belongs to a replica', { role: 'slave' }, 'needless'],
  ['is of a server that says nothing of rewrites', { rewrites: null }, 'needless'],
  ['is being rewritten', { rewrites: 1, underWay: true }, 'under_way'],
  ['waits for a snapshot before its rewrite', { underWay: true }, 'under_way'],
  ['was rewritten', { rewrites: 1 }, 'done'],
  ['could not be rewritten', { rewrites: 1, lastFailed: true }, 'failed'],
])('an append-only file that %s', (_, facts, verdict) => {
  expect(judgeAof({ ...loaded, ...facts })).toBe(verdict);
});
