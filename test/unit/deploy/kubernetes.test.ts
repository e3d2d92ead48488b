import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../../package.json' with { type: 'json' };
import { createMetrics } from '../../../src/monitoring/metrics.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import { expectNone } from '../../support/expect-none.ts';
import { readText } from '../docs/documents.ts';
import { exampleSecrets, problemsOf, rolesOf } from './daemon-environment.ts';
import { chart, helmIsMissing, renderChart } from './renderers.ts';

type Labels = Readonly<Record<string, string>>;

interface Container {
  readonly image: string;
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: {
      readonly secretKeyRef: { readonly name: string; readonly key: string; readonly optional?: boolean };
    };
  }[];
  readonly envFrom: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly resources: Readonly<Record<'requests' | 'limits', Labels>>;
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly [key: string]: unknown;
}

/** As much of the kinds as is looked at. */
interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Labels };
  readonly data: Labels;
  readonly spec: {
    readonly replicas?: number;
    readonly selector: { readonly matchLabels: Labels } & Labels;
    readonly scaleTargetRef: { readonly name: string };
    readonly minReplicas: number;
    readonly metrics: readonly { readonly external: { readonly metric: { readonly name: string } } }[];
    readonly podMetricsEndpoints: readonly { readonly port: string; readonly path: string }[];
    readonly egress: readonly {
      readonly to: readonly { readonly ipBlock?: { readonly except: readonly string[] } }[];
    }[];
    readonly template: {
      readonly metadata: { readonly labels: Labels };
      readonly spec: { readonly containers: readonly Container[]; readonly [key: string]: unknown };
    };
  };
}

const skipped = helmIsMissing ? ' (skipped: helm is not installed)' : '';

const isWithin = (labels: Labels, selector: Labels) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);

/** What the chart renders for an overlay, with the pod monitor. */
const renderOverlay = (overlay: string) =>
  renderChart<Resource>(
    'filing-webhooks',
    '--values',
    `${chart}/overlays/${overlay}.yaml`,
    '--set',
    'existingSecret=filing-webhooks,podMonitor.enabled=true',
  );

interface AdapterRule {
  readonly seriesQuery: string;
  readonly name: { readonly as: string };
}

const [adapterRule] = parse(readText('deploy/prometheus/adapter-rules.yaml')) as AdapterRule[];

test('the adapter of Prometheus makes its metric of one of the daemon', () => {
  expect(createMetrics().registry.getSingleMetric(adapterRule?.seriesQuery ?? '')).toBeDefined();
});

const overlays = [
  ['one-process', 1],
  ['trial', 1],
  ['split-roles', 3],
  ['cluster', 3],
] as const;

describe.skipIf(helmIsMissing).each(overlays)(`the overlay %s${skipped}`, (overlay, count) => {
  const resources = helmIsMissing ? [] : renderOverlay(overlay);
  const ofKind = (kind: string) => resources.filter((resource) => resource.kind === kind);
  const deployments = ofKind('Deployment');
  const settings = ofKind('ConfigMap');

  const containerOf = ({ spec }: Resource) => spec.template.spec.containers[0] as Container;
  const labelsOf = ({ spec }: Resource) => spec.template.metadata.labels;

  /** What the process finds in its environment, with references written out as Kubernetes does. */
  function environmentOf(deployment: Resource): Record<string, string> {
    const { env, envFrom } = containerOf(deployment);
    const map = settings.find(({ metadata }) => metadata.name === envFrom[0]?.configMapRef.name);
    const environment: Record<string, string> = { ...map?.data };
    for (const { name, value, valueFrom } of env) {
      const secret = exampleSecrets[valueFrom?.secretKeyRef.key ?? ''];
      if (value === undefined && secret === undefined) continue;
      environment[name] = (value ?? secret ?? '').replaceAll(
        /\$\((\w+)\)/g,
        (_, of: string) => environment[of] ?? '',
      );
    }
    return environment;
  }

  test('has each role once', () => {
    expect(deployments.length).toBe(count);
    const roles = deployments.flatMap((deployment) => rolesOf(environmentOf(deployment)));
    expect(roles.toSorted()).toEqual(['api', 'deliver', 'poll']);
  });

  test('sets only what the daemon reads, and as it reads it', () => {
    for (const deployment of deployments) expect(problemsOf(environmentOf(deployment))).toEqual([]);
  });

  test('has secrets by reference alone, and those of the daemon in no other way', () => {
    expect(ofKind('Secret')).toEqual([]);
    for (const deployment of deployments) {
      const byReference = containerOf(deployment).env.flatMap(
        ({ valueFrom }) => valueFrom?.secretKeyRef ?? [],
      );
      expect(new Set(byReference.map(({ name }) => name))).toEqual(new Set(['filing-webhooks']));
      expect(byReference.map(({ key, optional = false }) => [key, optional])).toEqual([
        ['API_TOKEN', false],
        ['ENCRYPTION_KEY', false],
        ['REDIS_PASSWORD', false],
        ['PARTNER_KEY', true],
        ['SMTP_URL', true],
        ['OTEL_EXPORTER_OTLP_HEADERS', true],
      ]);
      expect(environmentOf(deployment)['REDIS_URL']).toContain(`:${exampleSecrets['REDIS_PASSWORD']}@`);
    }
  });

  test('probes each process at the port of its metrics', () => {
    for (const deployment of deployments) {
      const container = containerOf(deployment);
      const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((name) => container[name]);
      expect(probes).toMatchObject(
        ['live', 'live', 'ready'].map((path) => ({ httpGet: { path: `/health/${path}`, port: 'metrics' } })),
      );
      const { METRICS_PORT } = environmentOf(deployment);
      expect(container.ports).toContainEqual({ name: 'metrics', containerPort: Number(METRICS_PORT) });
    }
  });

  test('allows each process the time that its end takes', () => {
    const documented = Number(
      /terminationGracePeriodSeconds: (\d+)/.exec(readText('docs/operations.md'))?.[1],
    );
    for (const deployment of deployments) {
      const waits = Number(containerOf(deployment).lifecycle.preStop.exec.command[1]);
      const grace = Number(deployment.spec.template.spec['terminationGracePeriodSeconds']);
      expect(grace).toBeGreaterThanOrEqual(waits + documented);
    }
  });

  test('gives each process memory beyond its heap, and asks for what it takes', () => {
    const heapMax = Number(/--max-old-space-size=(\d+)/.exec(packageJson.scripts.start)?.[1]);
    for (const deployment of deployments) {
      const { requests, limits } = containerOf(deployment).resources;
      expect(requests).toMatchObject({
        cpu: expect.stringMatching(/^\d+m?$/),
        memory: expect.stringMatching(/^\d+Mi$/),
      });
      expect(parseInt(limits['memory'] ?? '', 10)).toBeGreaterThanOrEqual(heapMax * 1.25);
    }
  });

  test('gives a process no privileges and nothing to write to but /tmp', () => {
    for (const { spec } of deployments) {
      const { containers, ...pod } = spec.template.spec;
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
        volumes: [{ emptyDir: { medium: 'Memory' } }],
      });
      expect(containers).toMatchObject([
        {
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          volumeMounts: [{ mountPath: '/tmp' }],
        },
      ]);
    }
  });

  test('runs the version of this repository', () => {
    const images = deployments.map((deployment) => containerOf(deployment).image);
    expect(new Set(images)).toEqual(new Set([`filing-webhooks:${packageJson.version}`]));
  });

  test('leads the Service to the processes with the API, and to no others', () => {
    const [service] = ofKind('Service');
    const led = deployments.filter((each) => isWithin(labelsOf(each), service?.spec.selector ?? {}));
    expect(led.length).toBeGreaterThan(0);
    expect(led).toEqual(deployments.filter((each) => rolesOf(environmentOf(each)).includes('api')));
  });

  test('interrupts one process of a kind at a time', () => {
    const budgets = ofKind('PodDisruptionBudget').map(({ spec }) => spec);
    for (const deployment of deployments)
      expect(
        budgets.filter(({ selector }) => isWithin(labelsOf(deployment), selector.matchLabels)),
      ).toMatchObject([{ maxUnavailable: 1 }]);
  });

  test('closes the addresses to each process that callbacks may not reach', () => {
    const open = ofKind('NetworkPolicy').find(({ metadata }) => metadata.name === 'filing-webhooks-public');
    const blocks =
      open?.spec.egress.flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock?.except ?? [])) ?? [];
    const refused = readText('src/egress/address-policy.ts').matchAll(/^ {2}'([\d.a-f:]+\/\d+)',/gm);
    expect(blocks).toEqual(Array.from(refused, ([, range]) => range));
    const policy = createEgressPolicy({ allowCidrs: [] });
    expectNone(blocks, (block) => policy.isAllowed(block.split('/')[0] ?? ''), 'ranges');
  });

  test('is scraped at the port of the metrics, whose labels keep their names', () => {
    const endpoints = ofKind('PodMonitor').map(({ spec }) => spec.podMetricsEndpoints);
    expect(endpoints).toMatchObject([[{ port: 'metrics', path: '/metrics', honorLabels: true }]]);
  });

  test('leaves the number of the processes that it scales to the autoscaler', () => {
    const scalers = ofKind('HorizontalPodAutoscaler');
    expect(scalers.length).toBe(overlay === 'cluster' ? 1 : 0);
    for (const { spec } of scalers) {
      const scaled = deployments.find(({ metadata }) => metadata.name === spec.scaleTargetRef.name);
      expect(scaled?.spec.replicas).toBeUndefined();
      expect(spec.minReplicas).toBeGreaterThan(1);
      expect(spec.metrics[0]?.external.metric.name).toBe(adapterRule?.name.as);
    }
    const others = deployments.filter(({ spec }) => spec.replicas === undefined);
    expect(others.length).toBe(scalers.length);
  });
});
