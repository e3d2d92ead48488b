import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { variables } from '../../../src/config/variables.ts';
import { readText, root } from '../docs/documents.ts';
import { exampleSecrets } from './daemon-environment.ts';
import { chart, helmIsMissing, renderChart, tryChart } from './renderers.ts';
import type { Resource } from './resources.ts';

const why = helmIsMissing ? ' (skipped: helm is not installed)' : '';
const secret = ['--set', 'existingSecret=any'];

/** A variable of a container. */
interface Variable {
  readonly name: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly key: string; readonly optional?: boolean } };
}

/** Values that are refused, and what Helm says of them. */
const refused = [
  ['replicas=2', "additional properties 'replicas' not allowed"],
  ['existingSecret=', "at '/existingSecret': minLength: got 0, want 1"],
  ['mode=three', "at '/mode': value must be one of 'one-process', 'split-roles'"],
  ['roles.poll.replicas=-1', "at '/roles/poll/replicas': minimum: got -1, want 0"],
  ['roles.watch.replicas=1', "at '/roles': additional properties 'watch' not allowed"],
  ['process.replicas=two', "at '/process/replicas': got string, want integer"],
  ['trialRedis.replicas=2', "at '/trialRedis': additional properties 'replicas' not allowed"],
  ['settings.POLL_INTERVAL=3', "at '/settings': additional properties 'POLL_INTERVAL' not allowed"],
  ['settings.ROLES=api', "at '/settings': additional properties 'ROLES' not allowed"],
  ['settings.API_TOKEN=text', "at '/settings': additional properties 'API_TOKEN' not allowed"],
  ['settings.EGRESS_PROXY=http://a:b@proxy', "at '/settings/EGRESS_PROXY'"],
  ['redisUrl=redis://:text@redis', "at '/redisUrl': 'redis://:text@redis' does not match pattern"],
  ['image.digest=sha256:12', "at '/image/digest'"],
  ['extraEnv[0].name=API_TOKEN', 'API_TOKEN, which comes from the Secret of existingSecret'],
  ['extraEnv[0].name=METRICS_PORT', 'METRICS_PORT, which the chart sets by itself'],
  ['ingress.enabled=true', 'ingress.host is missing'],
  ['httpRoute.enabled=true', 'httpRoute.parentRefs has to name a Gateway'],
  ['autoscaling.enabled=true', 'set mode to split-roles'],
  ['autoscaling.minReplicas=9', 'autoscaling.minReplicas is above autoscaling.maxReplicas'],
] as const;

describe.skipIf(helmIsMissing)(`values of the chart${why}`, () => {
  test('need the name of a Secret', () => {
    expect(tryChart()).toEqual({
      ok: false,
      text: expect.stringContaining("missing property 'existingSecret'"),
    });
  });

  test.each(refused)('refuse %s', (value, complaint) => {
    const { ok, text } = tryChart(...secret, '--set', value);
    expect(ok).toBe(false);
    expect(text).toContain(complaint);
  });

  test.each([
    ['the defaults', [], ['API_TOKEN', 'ENCRYPTION_KEY', 'REDIS_PASSWORD']],
    [
      'a Redis without a password',
      ['--set-string', 'redisUrl=$(REDIS_SCHEME)://$(REDIS_HOSTS)'],
      ['API_TOKEN', 'ENCRYPTION_KEY'],
    ],
    [
      'a Redis whose address is in the Secret',
      ['--set-string', 'redisUrl='],
      ['API_TOKEN', 'ENCRYPTION_KEY', 'REDIS_URL'],
    ],
  ])('need of the Secret with %s what the daemon needs', (_, options, keys) => {
    const resources = renderChart<Resource>('any', ...secret, ...options);
    const pods = resources.flatMap(({ kind, spec }) =>
      kind === 'Deployment' ? [spec?.template?.spec as { containers: { env: Variable[] }[] }] : [],
    );
    const env = pods.flatMap(({ containers }) => containers.flatMap((container) => container.env));
    const required = env.flatMap(({ valueFrom }) =>
      valueFrom?.secretKeyRef === undefined || valueFrom.secretKeyRef.optional
        ? []
        : valueFrom.secretKeyRef.key,
    );
    expect(required).toEqual(keys);
    expect(env.filter(({ name }) => name === 'REDIS_URL')).toHaveLength(1);
  });

  test('let sentinels through, mount volumes and lead to the API from outside', () => {
    const options = [
      'extraVolumes[0].name=authority',
      'extraVolumes[0].configMap.name=redis-authority',
      'extraVolumeMounts[0].name=authority',
      'extraVolumeMounts[0].mountPath=/etc/authority',
      'ingress.enabled=true',
      'ingress.host=filings.example.com',
      'httpRoute.enabled=true',
      'httpRoute.parentRefs[0].name=public',
      'service.port=8080',
    ].flatMap((option) => ['--set', option]);
    const resources = renderChart<Record<string, unknown> & Resource>('any', ...secret, ...options);
    const specOf = (kind: string, name: string) =>
      resources.find((one) => one.kind === kind && one.metadata.name === name)?.['spec'];
    expect(specOf('NetworkPolicy', 'any-filing-webhooks-redis')).toMatchObject({
      egress: [{ ports: [{ port: 6379 }, { port: 26_379 }] }],
    });
    expect(specOf('Deployment', 'any-filing-webhooks')).toMatchObject({
      template: {
        spec: {
          containers: [
            { volumeMounts: [{ name: 'tmp' }, { name: 'authority', mountPath: '/etc/authority' }] },
          ],
          volumes: [{ name: 'tmp' }, { name: 'authority', configMap: { name: 'redis-authority' } }],
        },
      },
    });
    expect(specOf('Ingress', 'any-filing-webhooks')).toMatchObject({
      rules: [
        {
          host: 'filings.example.com',
          http: {
            paths: [{ backend: { service: { name: 'any-filing-webhooks', port: { name: 'http' } } } }],
          },
        },
      ],
    });
    expect(specOf('HTTPRoute', 'any-filing-webhooks')).toEqual({
      parentRefs: [{ name: 'public' }],
      rules: [{ backendRefs: [{ name: 'any-filing-webhooks', port: 8080 }] }],
    });
  });

  test('come to the daemon as they were written', () => {
    const settings = [
      'EVENT_RETENTION_MS=2592000000',
      'OTEL_TRACES_SAMPLER_ARG=0.1',
      'DELIVERY_ALLOW_HTTP=true',
    ];
    const json = JSON.stringify(Object.fromEntries(settings.map((each) => readSetting(each))));
    const resources = renderChart<Resource>('any', ...secret, '--set-json', `settings=${json}`);
    expect(resources.find(({ kind }) => kind === 'ConfigMap')?.data).toMatchObject(
      Object.fromEntries(settings.map((each) => each.split('='))),
    );
  });

  test('choose the image, by its digest too', () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const image = `image.repository=registry.example.com/fw,image.tag=2.0.1,image.digest=${digest}`;
    const { text } = tryChart(...secret, '--set', image);
    expect(text).toContain(`image: "registry.example.com/fw:2.0.1@${digest}"`);
  });

  test('open further ways out, or close the public one', () => {
    const egress = JSON.stringify([{ to: [{ ipBlock: { cidr: '10.1.0.0/16' } }], ports: [{ port: 3128 }] }]);
    const options = [
      '--set-json',
      `networkPolicy.extraEgress=${egress}`,
      '--set',
      'networkPolicy.public=false',
    ];
    const policies = renderChart<Resource>('any', ...secret, ...options).filter(
      ({ kind }) => kind === 'NetworkPolicy',
    );
    const names = policies.map(({ metadata }) => metadata.name.replace('any-filing-webhooks-', ''));
    expect(names.toSorted()).toEqual(['extra', 'ingress', 'names', 'redis']);
  });

  test('are enough for an installation, which then says where the page is', async () => {
    const { url, close } = await answerAsKubernetes(renderChart('any', ...secret));
    try {
      const args = ['install', 'any', chart, '--dry-run=client', '--disable-openapi-validation', ...secret];
      const cluster = ['--kube-apiserver', url, '--kubeconfig', '/dev/null'];
      const { stdout } = await promisify(execFile)('helm', [...args, ...cluster], { cwd: root });
      expect(stdout).toMatch(/^STATUS: pending-install$/m);
      expect(stdout).toContain('port-forward service/any-filing-webhooks 3000:80');
    } finally {
      close();
    }
  });
});

test('every variable may be a setting but secrets, and those that the chart sets', () => {
  const schema = JSON.parse(readText(`${chart}/values.schema.json`)) as {
    properties: { settings: { properties: Record<string, unknown> } };
  };
  const never = new Set([...Object.keys(exampleSecrets), 'PARTNER_KEY', 'REDIS_URL', 'SMTP_URL']);
  for (const own of ['DATA_DIR', 'HOST', 'PORT', 'METRICS_PORT', 'ROLES']) never.add(own);
  const possible = [
    'REDIS_SCHEME',
    'REDIS_HOSTS',
    ...Object.keys(variables).filter((name) => !never.has(name)),
  ];
  expect(Object.keys(schema.properties.settings.properties).toSorted()).toEqual(possible.toSorted());
});

/** A name and a value of JSON. */
function readSetting(text: string): [string, unknown] {
  const [name = '', value = ''] = text.split('=');
  return [name, JSON.parse(value)];
}

/** Even for a client's dry run, Helm asks which version and which kinds there are, and whether the resources are there already. */
async function answerAsKubernetes(resources: readonly Resource[]) {
  const byVersion = Object.groupBy(resources, ({ apiVersion }) => apiVersion);
  const groups = Object.keys(byVersion).flatMap((groupVersion) => {
    const [name = '', version] = groupVersion.split('/');
    return version === undefined ? [] : [{ name, versions: [{ groupVersion, version }] }];
  });
  const answers = new Map<string, object>([
    ['/version', { major: '1', minor: '30', gitVersion: 'v1.30.0' }],
    ['/api', { kind: 'APIVersions', versions: ['v1'] }],
    ['/apis', { kind: 'APIGroupList', groups }],
  ]);
  for (const [groupVersion, members = []] of Object.entries(byVersion)) {
    const kinds = new Set(members.map(({ kind }) => kind));
    answers.set(`/${groupVersion === 'v1' ? 'api' : 'apis'}/${groupVersion}`, {
      kind: 'APIResourceList',
      groupVersion,
      resources: [...kinds].map((kind) => ({ kind, name: kind.toLowerCase(), namespaced: true })),
    });
  }
  const server = createServer(({ url = '' }, response) => {
    const answer = answers.get(url.split('?')[0] ?? '');
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(answer ?? { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 }),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
