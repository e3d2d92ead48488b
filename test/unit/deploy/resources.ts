import { expect } from 'vitest';

/** Labels of a resource, or what selects by them. */
export type Labels = Readonly<Record<string, string>>;

interface Variable {
  readonly name: string;
  readonly value?: string;
}

/** As much of a resource of Kubernetes as is looked at. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Labels };
  readonly data?: Labels;
  readonly spec?: {
    readonly selector?: Labels | { readonly matchLabels: Labels };
    readonly podSelector?: { readonly matchLabels: Labels };
    readonly template?: {
      readonly metadata: { readonly labels: Labels; readonly annotations?: Labels };
      readonly spec: { readonly containers: readonly { readonly env?: readonly Variable[] }[] };
    };
  };
}

/** Whether a thing with these labels is selected. */
export const isLabelledBy = (labels: Labels, selector: Labels): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);

/** By which labels of pods a resource selects. */
export function selectorsOf({ spec }: Resource): Labels[] {
  const { selector, podSelector } = spec ?? {};
  const found = [selector, podSelector].filter((each) => each !== undefined);
  return found.map((each) => ('matchLabels' in each ? each.matchLabels : each) as Labels);
}

/**
 * The resources by kind and name without what differs on purpose between kustomize and Helm:
 *
 * - kustomize puts a hash behind the name of the settings; Helm keeps the name and puts one into an annotation of the pods.
 * - Helm names the release in labels and selectors, and itself, its chart and the version in labels.
 * - Helm names the component of every process; kustomize does not where there is one kind alone.
 * - The Redis of a trial has a name of the release's, since a namespace may hold several.
 * - The order of variables, but for that of references to others.
 */
export function alike(resources: readonly Resource[]): Record<string, Resource> {
  const all = Object.fromEntries(
    resources.map((resource) => {
      expectReferencesToFormer(resource);
      const same = JSON.parse(namesAlike(JSON.stringify(resource)), without) as Resource;
      return [`${same.kind}/${same.metadata.name}`, same];
    }),
  );
  expect(Object.keys(all).length, 'different kinds and names').toBe(resources.length);
  return all;
}

const namesAlike = (text: string) =>
  text
    .replaceAll(/filing-webhooks-settings-[a-z\d]{10}\b/g, 'filing-webhooks-settings')
    .replaceAll('filing-webhooks-trial-redis', 'redis');

const ofHelm = new Set([
  'app.kubernetes.io/instance',
  'app.kubernetes.io/managed-by',
  'app.kubernetes.io/version',
  'helm.sh/chart',
]);

/** For JSON.parse: a part of a resource without what differs. */
function without(key: string, value: unknown): unknown {
  if (ofHelm.has(key)) return undefined;
  if (key === 'annotations') return withoutSum(value as Labels);
  if (key === 'env') return (value as Variable[]).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (key === 'metadata') return withoutComponent(value as Resource['metadata']);
  return value;
}

function withoutSum({ 'checksum/settings': sum, ...others }: Labels): Labels | undefined {
  if (sum !== undefined) expect(sum).toMatch(/^[\da-f]{64}$/);
  return Object.keys(others).length > 0 ? others : undefined;
}

/** Only of resources themselves: the labels of pods have no name beside them. */
function withoutComponent(metadata: Resource['metadata']): Resource['metadata'] {
  const { 'app.kubernetes.io/component': component, ...others } = metadata.labels ?? {};
  const isResource = typeof metadata.name === 'string';
  return isResource && component === 'daemon' ? { ...metadata, labels: others } : metadata;
}

/** Kubernetes replaces `$(NAME)` by variables that stand before. */
function expectReferencesToFormer({ kind, metadata, spec }: Resource): void {
  for (const { env = [] } of spec?.template?.spec.containers ?? [])
    for (const [place, { name, value = '' }] of env.entries()) {
      const former = new Set(env.slice(0, place).map((each) => each.name));
      const named = [...value.matchAll(/\$\((\w+)\)/g)].map(([, of = '']) => of);
      const later = named.filter((of) => env.some((each) => each.name === of) && !former.has(of));
      expect(later, `what ${name} of ${kind} ${metadata.name} needs`).toEqual([]);
    }
}
