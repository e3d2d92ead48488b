import { describe, expect, it } from 'vitest';
import { boundedCounts } from '../../../src/monitoring/gauges/account-facts.ts';
import { createMetrics } from '../../../src/monitoring/metrics.ts';
import { readText } from '../docs/documents.ts';
import { expectNone } from '../../support/expect-none.ts';

interface RegisteredMetric {
  readonly name: string;
  readonly labelNames?: readonly string[];
}

const { registry } = createMetrics();
const registered = registry.getMetricsAsArray() as unknown as readonly RegisteredMetric[];
const rules = readText('deploy/prometheus/filing-webhooks.rules.yml');
const dashboard = JSON.parse(readText('deploy/grafana/filing-webhooks.json')) as {
  readonly panels: readonly {
    readonly title: string;
    readonly description: string;
    readonly fieldConfig: { readonly defaults: Readonly<Record<string, unknown>> };
    readonly targets: readonly { readonly expr: string }[];
  }[];
};
const queries = {
  rules: [...rules.matchAll(/^ +expr: (?:\|\n((?: {10}.*\n)+)|(.*)$)/gm)].map(
    ([, block, line]) => block ?? line ?? '',
  ),
  dashboard: dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
};

/** The metrics that a query reads, each with the labels it filters by. */
function selectors(query: string): { name: string; labels: string[] }[] {
  return [...query.matchAll(/\b((?:filing_webhooks|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', filter = '']) => ({
      name,
      labels: [...filter.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
    }),
  );
}

function find(name: string): RegisteredMetric | undefined {
  const plain = name.replace(/_(?:bucket|sum|count)$/, '');
  return registered.find((metric) => metric.name === name || metric.name === plain);
}

describe.each(Object.entries(queries))('the queries of the %s', (_, found) => {
  it('read metrics that the daemon has, by labels that these have', () => {
    expect(found.length).toBeGreaterThan(10);
    const wrong = found.flatMap(selectors).filter(({ name, labels }) => {
      const metric = find(name);
      return metric === undefined || labels.some((label) => !metric.labelNames?.includes(label));
    });
    expect(wrong).toEqual([]);
    expectNone(found, (query) => selectors(query).length === 0, 'queries');
  });
});

it('the dashboard shows every metric but those of the sealed secrets', () => {
  const shown = new Set(queries.dashboard.flatMap(selectors).map(({ name }) => find(name)?.name));
  const own = registered.map(({ name }) => name).filter((name) => name.startsWith('filing_webhooks_'));
  const wanted = own.filter((name) => !/_(sealed_secrets|sealing_key)$/.test(name));
  expectNone(wanted, (name) => !shown.has(name), 'metrics');
});

it('a panel of the dashboard says what it counts, and has the limit of the alert', () => {
  const { panels } = dashboard;
  const counting = panels.filter(({ targets }) => targets.some(({ expr }) => expr.includes('increase(')));
  expectNone(counting, ({ description }) => description.includes('per second'), 'panels');
  const ages = panels.find(({ title }) => title === 'Age of the metrics')?.fieldConfig.defaults;
  expect(rules).toContain('expr: max(filing_webhooks_gauges_age_seconds) > 300');
  expect(ages).toMatchObject({ unit: 's', thresholds: { steps: [{}, { value: 300 }] } });
});

it('every alert says what to do, and links to a page of docs', () => {
  const alerts = rules.split('- alert: ').slice(1);
  expect(alerts.length).toBeGreaterThan(20);
  const complete = /^ +description: .{20}[^]*^ +runbook_url: .*docs\/[\w/-]+\.md#[\w-]+'$/m;
  expectNone(alerts, (alert) => !complete.test(alert), 'alerts');
});

describe('the filings of an account by status', () => {
  it('have every known status, also without filings', () => {
    expect(boundedCounts({ PAID: 2 })).toEqual({ UNPAID: 0, PAID: 2, PENDING: 0, COMPLETED: 0, REJECTED: 0 });
  });

  it('keep the names of twenty others and sum up the rest, so that a partner service cannot make series without end', () => {
    const invented = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`S${i}`, i + 1]));
    const counts = boundedCounts(invented);
    expect(Object.keys(counts)).toHaveLength(5 + 20 + 1);
    expect(counts).toMatchObject({ S499: 500, S480: 481, other: (480 * 481) / 2 });
  });
});
