import catalogue from './catalogue.json' with { type: 'json' };

/** A field of an event as the Zap editor offers it. */
export interface CatalogueField {
  readonly label: string;
  /** Missing where the product promises no type: the partner service decides. */
  readonly type?: 'string' | 'number' | 'integer' | 'boolean' | 'datetime';
  readonly list?: boolean;
}

/** An event of the product: a callback's body with the id that the callback has in `webhook-id`. */
export interface FilingEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What the app knows of the product's events without a daemon; `npm run derive` derives it from schemas/events. */
export interface Catalogue {
  /** The statuses of the partner service; it may send others. */
  readonly statuses: readonly string[];
  readonly types: readonly {
    readonly type: string;
    readonly description: string;
    /** Names of `fields`, in the order of the editor. */
    readonly fields: readonly string[];
    readonly sample: object;
  }[];
  readonly fields: Readonly<Record<string, CatalogueField>>;
}

const { types, fields }: Catalogue = catalogue as Catalogue;

/** The statuses that the partner service is known to use. */
export const statuses: readonly string[] = catalogue.statuses;

/** The event types whose name begins so, with a sentence on each. */
export function typesUnder(...prefixes: string[]): { value: string; label: string; sample: string }[] {
  return types
    .filter(({ type }) => prefixes.some((prefix) => type.startsWith(prefix)))
    .map(({ type, description }) => ({
      value: type,
      label: `${type}: ${firstSentence(description)}`,
      sample: type,
    }));
}

/** Whether events of this type are about a subscription, maybe of another token: one for its own subscriptions is refused them. */
export function isAboutSubscriptions(eventType: string): boolean {
  return types.find(({ type }) => type === eventType)?.fields.includes('data__subscription') ?? false;
}

/** The fields that events of these types have, each once. */
export function outputFieldsOf(eventTypes: readonly string[]): ({ key: string } & CatalogueField)[] {
  const keys = new Set(
    types.filter(({ type }) => eventTypes.includes(type)).flatMap((entry) => entry.fields),
  );
  return [...keys].map((key) => ({ key, ...(fields[key] ?? { label: key }) }));
}

/** An event of this type as the product's documents show it. */
export function sampleOf(eventType: string): FilingEvent {
  const sample = types.find(({ type }) => type === eventType)?.sample;
  if (sample === undefined) throw new Error(`no event type ${eventType} in the catalogue`);
  return sample as FilingEvent;
}

/** `description` up to where a second thought begins, without Markdown. */
function firstSentence(description: string): string {
  return (description.split(/[;.](?: |$)/)[0] ?? '').replaceAll('`', '');
}
