import { jsonSchema, type ApiDocument } from './document.ts';
import { anyOf, definition, references, toSwagger, type Schema } from './schemas.ts';

/** Name of the definition of what a trigger receives. */
export const eventDefinition = 'FilingEvent';

/** Name of the definition of what a subscribe request answers. */
export const subscribedDefinition = 'Subscribed';

/** Name of the definition of a list of subscriptions to choose from. */
export const choicesDefinition = 'SubscriptionChoices';

/** The schema itself, where it is a reference into the daemon's document. */
export function resolve(document: ApiDocument, schema: Schema): Schema {
  const [name] = '$ref' in schema ? references(schema) : [];
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
}

/** All definitions that the paths need, by name; throws where the daemon's document lacks one. */
export function definitionsFor(document: ApiDocument, paths: unknown): Record<string, Schema> {
  const { schemas } = document.components;
  const made: Record<string, Schema> = {};
  const wanted = references(paths);
  for (let name = wanted.shift(); name !== undefined; name = wanted.shift()) {
    if (name in made) continue;
    const schema = definitionOf(document, name);
    made[name] = toSwagger(schema, 'output', schemas);
    wanted.push(...references(made[name]));
  }
  return Object.fromEntries(Object.entries(made).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function definitionOf(document: ApiDocument, name: string): Schema {
  const { schemas } = document.components;
  if (name === eventDefinition) return filingEvent(document);
  // Without the secret: nothing in a flow can verify a signature with it.
  if (name === subscribedDefinition) return namesOf(document, 'RegisteredSubscription');
  if (name === choicesDefinition) {
    const items = { type: 'array', items: namesOf(document, 'Subscription') };
    return { type: 'object', required: ['items'], properties: { items } };
  }
  const schema = schemas[name];
  if (schema === undefined) throw new Error(`the document has no schema ${name}`);
  return schema;
}

// Of a subscription what tells it from others.
function namesOf(document: ApiDocument, name: string): Schema {
  const { properties } = resolve(document, definition(name)) as { properties: Record<string, Schema> };
  const { id, description } = properties;
  if (id === undefined || description === undefined) throw new Error(`${name} has no id or description`);
  return { type: 'object', required: ['id', 'description'], properties: { id, description } };
}

// What a trigger may receive: the event of any change of a filing, and the ping of a test call.
function filingEvent(document: ApiDocument): Schema {
  const bodies = Object.entries(document.webhooks)
    .filter(([type]) => type.startsWith('filing.') || type === 'ping')
    .map(([type, { post }]) => resolve(document, jsonSchema(post.requestBody, type)));
  return {
    ...anyOf(bodies, document.components.schemas),
    description: 'The event of a change of a filing.',
  };
}
