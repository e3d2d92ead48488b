import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../../package.json' with { type: 'json' };
import { readText } from '../docs/documents.ts';
import { chart, helmIsMissing, renderChart } from './renderers.ts';
import { isLabelledBy, selectorsOf } from './resources.ts';
import type { Labels, Resource } from './resources.ts';

const why = helmIsMissing ? ' (skipped: helm is not installed)' : '';
const secret = ['--set', 'existingSecret=filing-webhooks'];

/** The overlay of the chart with this name, and further options. */
const valuesOf = (overlay: string, ...more: readonly string[]) => [
  '--values',
  `${chart}/overlays/${overlay}.yaml`,
  ...secret,
  ...more,
];

describe.skipIf(helmIsMissing)(`deploy/helm${why}`, () => {
  test('has the same defaults without an overlay as with one-process', () => {
    expect(renderChart('any', ...secret)).toEqual(renderChart('any', ...valuesOf('one-process')));
  });

  test.each(['one-process', 'cluster', 'trial'])(
    'keeps two releases of %s in one namespace apart',
    (overlay) => {
      const [first, second] = ['first', 'second'].map((release) =>
        renderChart<Resource>(release, ...valuesOf(overlay, '--set', 'podMonitor.enabled=true')),
      ) as [Resource[], Resource[]];
      const nameOf = ({ kind, metadata }: Resource) => `${kind}/${metadata.name}`;
      const names = [...first, ...second].map(nameOf);
      expect(new Set(names).size).toBe(names.length);
      const pods = (of: readonly Resource[]) =>
        of.flatMap(({ spec }): Labels[] =>
          spec?.template === undefined ? [] : [spec.template.metadata.labels],
        );
      const selectors = first.flatMap(selectorsOf);
      expect(selectors.length).toBeGreaterThan(4);
      for (const selector of selectors) {
        expect(pods(first).filter((labels) => isLabelledBy(labels, selector))).not.toEqual([]);
        expect(pods(second).filter((labels) => isLabelledBy(labels, selector))).toEqual([]);
      }
    },
  );

  test('replaces the processes where a setting has changed, and only there', () => {
    const sumsWith = (option: string) =>
      renderChart<Resource>('any', ...valuesOf('split-roles', '--set', option)).flatMap(
        ({ spec }) => spec?.template?.metadata.annotations?.['checksum/settings'] ?? [],
      );
    const before = sumsWith('settings.LOG_LEVEL=info');
    expect(new Set(before).size).toBe(1);
    expect(before.length).toBe(3);
    expect(sumsWith('service.port=81')).toEqual(before);
    expect(sumsWith('settings.LOG_LEVEL=warn')).not.toEqual(before);
  });
});

test('the chart has the version of the daemon', () => {
  const { version, appVersion } = parse(readText(`${chart}/Chart.yaml`)) as Record<string, string>;
  expect([version, appVersion]).toEqual([packageJson.version, packageJson.version]);
});
