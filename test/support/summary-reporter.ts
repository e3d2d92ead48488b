import type { Reporter, TestModule } from 'vitest/node';

/** Ends a test run with one plain line, `N passed, N failed, N skipped`, that people and CI can read. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state] += 1;
      if (module.errors().length > 0) count.failed += 1;
    }
    process.once('exit', () => {
      process.stdout.write(
        `${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped\n`,
      );
    });
  }
}
