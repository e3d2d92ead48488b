import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/monitoring/metrics.ts';
import type { HealthState } from '../../../src/polling/health.ts';
import type { SubscriptionState } from '../../../src/subscriptions/subscription.ts';
import { filesBelow, readText } from './documents.ts';
import { expectNone } from '../../support/expect-none.ts';

const document = readText('docs/failure-modes.md');

const stateWords = [
  'baselining',
  'ok',
  'backing_off',
  'auth_failed',
  'doubtful',
  'stale',
  'active',
  'failing',
  'disabled',
] satisfies (HealthState | SubscriptionState)[];

describe('docs/failure-modes.md', () => {
  it('explains every log line that the daemon writes, and no other', () => {
    const sources = filesBelow('src').filter(
      (path) => path.endsWith('.ts') && !path.startsWith('src/sandbox/'),
    );
    const written = new Set(sources.flatMap((path) => messageNames(readText(path))));
    expect(written.size).toBeGreaterThan(10);
    expect(sorted(namesIn('Log lines'))).toEqual(sorted(written));
  });

  it('names every metric, which explains itself, and no other', () => {
    const registered = createMetrics()
      .registry.getMetricsAsArray()
      .map(({ name }) => name)
      .filter((name) => name.startsWith('filing_webhooks_'));
    const lists = /\n## Metrics\n.*?\nBeyond /s.exec(document)?.[0].match(/^- [^]*?(?=\n- |\n\n)/gm) ?? [];
    const named = lists.flatMap((list) => [...list.matchAll(/`(\w+)(?:\{[^`]*\})?`/g)]);
    expect(sorted(named.map(([, name]) => `filing_webhooks_${name}`))).toEqual(sorted(registered));
  });

  it('explains the state words of the API', () => {
    expectNone(stateWords, (word) => !document.includes(`\`${word}\``), 'words');
  });
});

/** The names with a dot that the items of a section's lists begin with. */
function namesIn(section: string): string[] {
  const text = document.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '';
  const heads = [...text.matchAll(/^- (`[^:(]*?`)(?:\s\([^)]*\))?:/gm)].map(([, head = '']) => head);
  const names = heads.flatMap((head) => [...head.matchAll(/`([^`]+)`/g)]);
  return names.flatMap(([, name = '']) => (/^\w+[.]\w/.test(name) ? [name] : []));
}

/** What a source file logs: the last text that each call of a logger is given, up to a colon. */
function messageNames(source: string): string[] {
  const calls = source.matchAll(/\blog(?:ger)?\s*\.(?:trace|debug|info|warn|error|fatal)\(/g);
  return [...calls].map(({ index, 0: call }) => {
    const texts = [...argumentsAt(source, index + call.length).matchAll(/'([^']*)'/g)];
    const name = texts.at(-1)?.[1] ?? `a call without a text: ${source.slice(index, index + 80)}`;
    return name.split(':', 1)[0] ?? name;
  });
}

/** The text from a position to the parenthesis that closes the call. */
function argumentsAt(source: string, from: number): string {
  let depth = 1;
  let end = from;
  while (depth > 0 && end < source.length) {
    if (source[end] === '(') depth += 1;
    if (source[end] === ')') depth -= 1;
    end += 1;
  }
  return source.slice(from, end - 1);
}

function sorted(names: Iterable<string>): string[] {
  return [...names].toSorted((a, b) => (a < b ? -1 : 1));
}
