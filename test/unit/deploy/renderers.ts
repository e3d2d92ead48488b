import { spawnSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';
import { skipIfFails } from '../../support/skip-without.ts';
import { root } from '../docs/documents.ts';

/** The folder of the Helm chart. */
export const chart = 'deploy/helm/filing-webhooks';

/** Whether tests that render the chart are to be skipped. */
export const helmIsMissing = skipIfFails('helm', 'version');

/** The oldest version of Kubernetes that the files are for: a Helm that was built from source takes it for an older one. */
const ofKubernetes = ['--kube-version', '1.30'];

/** What Helm answers. */
export interface Answer {
  readonly ok: boolean;
  readonly text: string;
}

/** The resources that Helm renders of the chart for a release; throws what it complains of. */
export function renderChart<Resource>(release: string, ...options: readonly string[]): Resource[] {
  const { stdout, stderr, status } = run(['template', release, chart, ...ofKubernetes, ...options]);
  if (status !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Resource);
}

/** What Helm says of the chart with these options: the resources, or its complaint without line breaks. */
export function tryChart(...options: readonly string[]): Answer {
  const { stdout, stderr, status } = run(['template', 'any', chart, ...ofKubernetes, ...options]);
  return status === 0 ? { ok: true, text: stdout } : { ok: false, text: stderr.replaceAll(/\s+/g, ' ') };
}

function run(args: readonly string[]) {
  const result = spawnSync('helm', args, { cwd: root, encoding: 'utf8' });
  if (result.error !== undefined) throw result.error;
  return result;
}
