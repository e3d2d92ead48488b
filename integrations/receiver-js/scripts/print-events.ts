/** The part of JSON Schema that the schemas of events use. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: string;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: boolean;
}

/** The schema of a whole event. */
export interface EventSchema extends Schema {
  readonly title: string;
  readonly properties: Readonly<Record<'id' | 'type' | 'timestamp' | 'data', Schema>>;
}

interface Event {
  readonly type: string;
  readonly schema: EventSchema;
}

const understood = new Set(
  '$schema $id title type const enum format description examples required properties items additionalProperties'.split(
    ' ',
  ),
);

/**
 * The types of all events, as one TypeScript file that is not yet formatted. What the events of one family (`filing.`, `account.`) have in
 * common becomes one interface, `data.filing` becomes `Filing`. Throws at a keyword of JSON Schema that it does not know.
 */
export function printEvents(events: readonly Event[]): string {
  const families = Map.groupBy(events, ({ type }) => type.split('.')[0] ?? type);
  const parts = [...families].map(([family, members]) => printFamily(family, members));
  return [
    '// Generated from schemas/events by `npm run derive`: change the schemas, not this file.',
    printFiling(events),
    ...parts,
    `/** Every event that this version of the package knows, told apart by \`type\`. */
    export type KnownEvent = ${[...families.keys()].map((family) => unionName(family)).join(' | ')};`,
    `/** The types of all events that this version of the package knows. */
    export const knownEventTypes = [${events.map(({ type }) => `'${type}'`).join(', ')}] as const;`,
  ].join('\n\n');
}

function printFiling(events: readonly Event[]): string {
  const filings = events.flatMap(({ schema }) => schema.properties.data.properties?.['filing'] ?? []);
  const [first] = filings;
  if (first === undefined || filings.some((filing) => !isSame(filing, first)))
    throw new Error('data.filing differs between events: Filing cannot stand for all of them');
  return `/**
   * A filing exactly as the partner service returned it. Only \`id\` and \`status\` were checked by the daemon; check what you read of the others.
   */
  export interface Filing ${printObject(first)}`;
}

function printFamily(family: string, events: readonly Event[]): string {
  const all = events.map(({ schema }) => schema.properties.data);
  const [first] = all;
  const common = Object.fromEntries(
    Object.entries(first?.properties ?? {}).filter(([name, property]) =>
      all.every(
        (data) =>
          data.properties?.[name] !== undefined &&
          isSame(data.properties[name], property) &&
          isRequired(data, name) === isRequired(first ?? {}, name),
      ),
    ),
  );
  const shared = `${pascal(family)}EventData`;
  const base: Schema = { ...first, properties: common };
  return [
    `/** ${events.length === 1 ? `\`data\` of \`${events[0]?.type}\`.` : `What \`data\` of every event \`${family}.…\` has.`} */
    export interface ${shared} ${printObject(base)}`,
    ...events.map((event) => printEvent(event, shared, common)),
    ...(events.length === 1
      ? []
      : [
          `/** Every event \`${family}.…\` that this version of the package knows. */
    export type ${unionName(family)} = ${events.map(({ schema }) => schema.title).join(' | ')};`,
        ]),
  ].join('\n\n');
}

function printEvent(
  { type, schema }: Event,
  shared: string,
  common: Readonly<Record<string, Schema>>,
): string {
  const { id, data, timestamp } = schema.properties;
  const own = Object.fromEntries(Object.entries(data.properties ?? {}).filter(([name]) => !(name in common)));
  const hasOwn = Object.keys(own).length > 0;
  const name = hasOwn ? schema.title.replace(/Event$/, 'Data') : shared;
  return `${
    hasOwn
      ? `/** \`data\` of \`${type}\`. */
  export interface ${name} extends ${shared} ${printObject({ ...data, properties: own })}\n\n`
      : ''
  }${comment(schema)}export interface ${schema.title} {
    ${comment(id)}readonly id: string;
    readonly type: '${type}';
    ${comment(timestamp)}readonly timestamp: string;
    readonly data: ${name};
  }`;
}

function printObject(schema: Schema): string {
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const optional = isRequired(schema, name) ? '' : '?';
    const type = name === 'filing' ? printType(property, 'Filing') : printType(property);
    return `${comment(property)}readonly ${name}${optional}: ${type};`;
  });
  const others =
    schema.additionalProperties === true
      ? ['/** Other fields, as the partner service wrote them. */\nreadonly [field: string]: unknown;']
      : [];
  return `{\n${[...properties, ...others].join('\n')}\n}`;
}

// `objectName` stands for an object instead of its fields.
function printType(schema: Schema, objectName?: string): string {
  const unknown = Object.keys(schema).filter((keyword) => !understood.has(keyword));
  if (unknown.length > 0) throw new Error(`a schema uses ${unknown.join(', ')}: teach it to print-events.ts`);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const types = [schema.type ?? []].flat();
  return types.length === 0 ? 'unknown' : types.map((type) => printOne(type, schema, objectName)).join(' | ');
}

function printOne(type: string, schema: Schema, objectName?: string): string {
  if (type === 'object') return objectName ?? printObject(schema);
  if (type === 'array') return `readonly (${printType(schema.items ?? {})})[]`;
  if (type === 'integer') return 'number';
  if (['string', 'number', 'boolean', 'null'].includes(type)) return type;
  throw new Error(`a schema has the type ${type}: teach it to print-events.ts`);
}

// The doc comment of a field: its description, and its first example where that is a plain value.
function comment({ description, examples = [], format }: Schema): string {
  const [example] = examples;
  const sentences = [
    description,
    format === 'date-time' ? 'An instant, ISO 8601 in UTC.' : undefined,
    example !== undefined && typeof example !== 'object' ? `For example \`${example}\`.` : undefined,
  ].filter((sentence) => sentence !== undefined);
  return sentences.length === 0 ? '' : `/** ${sentences.join(' ').replaceAll('*/', '*\\/')} */\n`;
}

function unionName(family: string): string {
  return `${pascal(family)}Event`;
}

function pascal(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function isRequired(schema: Schema, name: string): boolean {
  return schema.required?.includes(name) ?? false;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
