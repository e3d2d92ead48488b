import { stripVTControlCharacters } from 'node:util';
import type { TestError } from 'vitest';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

// Maximum number of tests that are listed by name.
const listedMax = 30;
// Maximum characters of the reason for which one failed at first.
const reasonMax = 1_000;

/**
 * Ends a test run with one plain line, `N passed, N failed, N skipped`, that people and CI can read. Before it
 * stand the names of what failed, and of what passed only when it was run once more, with the reason for which
 * it failed at first: nothing else prints that one. A test that is skipped
 * without the word in its title, which gives the reason, counts as failed.
 */
export default class SummaryReporter implements Reporter {
  private vitest: Vitest | null = null;

  onInit(vitest: Vitest): void {
    this.vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly { readonly message: string }[]): void {
    const { project = [], testNamePattern } = this.vitest?.config ?? {};
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    const lines: string[] = [];
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state, errors: failures = [] } = test.result();
        // The options -t and `only` skip all others.
        const hasReason =
          state !== 'skipped' || testNamePattern !== undefined || /skipped/.test(test.fullName);
        count[hasReason ? state : 'failed'] += 1;
        const name = `${module.relativeModuleId}: ${test.fullName}`;
        if (!hasReason) lines.push(`skipped without a reason in its title: ${name}`);
        if (state === 'failed') lines.push(`failed: ${name}`);
        if (test.diagnostic()?.flaky === true)
          lines.push(`passed when it was run once more: ${name}${reasonOf(failures[0])}`);
      }
      // What fails outside of the tests: an import, or a hook, whose tests are skipped then.
      const broken = [module, ...module.children.allSuites()].filter((part) => part.errors().length > 0);
      count.failed += broken.length;
      for (const part of broken) {
        const [message = ''] = part.errors()[0]?.message.split('\n') ?? [];
        lines.push(`failed outside of its tests: ${module.relativeModuleId}: ${message}`);
      }
    }
    if (errors.length > 0) lines.unshift(`failed outside of all tests: ${errors[0]?.message}`);
    lines.splice(listedMax);
    if (project.includes('!long')) lines.push('The longer tests: npm run test:long');
    lines.push(`${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped`);
    process.once('exit', () => {
      if (count.failed > 0) process.exitCode = 1;
      process.stdout.write(`${lines.join('\n')}\n`);
    });
  }
}

function reasonOf(failure: TestError | undefined): string {
  if (failure === undefined) return '';
  const { message, diff = '', stacks = [] } = failure;
  const [at] = stacks;
  const place = at === undefined ? '' : `  at ${at.file}:${at.line}`;
  return ['', message, stripVTControlCharacters(diff), place].join('\n').trimEnd().slice(0, reasonMax);
}
