import { spawnSync } from 'node:child_process';
import { findExecutable } from '../../src/redis/server/find-server.ts';

/** With REQUIRE_TOOLS=1, which `.ci/run` sets, tests that lack a tool run, and so fail. */
const required = process.env['REQUIRE_TOOLS'] === '1';

/**
 * Whether tests of these tools are to be skipped: one of them is missing and none is required. Their titles
 * say so: the summary reporter fails a run with a skipped test that gives no reason.
 */
export function skipWithout(...tools: readonly string[]): boolean {
  return !required && tools.some((tool) => findExecutable([tool], process.env['PATH'] ?? '') === null);
}

/** Whether tests of a tool are to be skipped because this command, which needs nothing else, fails. */
export function skipIfFails(command: string, ...args: readonly string[]): boolean {
  return !required && spawnSync(command, args).status !== 0;
}
