/** Labels of a resource, or what selects by them. */
export type Labels = Readonly<Record<string, string>>;

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
      readonly spec: object;
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
