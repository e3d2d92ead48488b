import { actionOperation } from './action-operation.ts';
import { actions } from './shown/actions.ts';
import { definitionsFor } from './definitions.ts';
import { findOperation, type ApiDocument } from './document.ts';
import type { ShownTrigger } from './shown/shown.ts';
import { triggerPath } from './trigger-path.ts';
import { triggers } from './shown/triggers.ts';

/** Where a connector's requests go: to the address of each connection, or to one daemon for all. */
export type Target = { readonly kind: 'each connection' } | { readonly kind: 'host'; readonly host: string };

/** What a connector is derived from. */
export interface ConnectorSource {
  readonly document: ApiDocument;
  /** Version of the connector, `1.2.3`. */
  readonly version: string;
  /** Statuses that are offered as choices. */
  readonly statuses: readonly string[];
  readonly target: Target;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * The connector's definition, in OpenAPI 2.0 with Microsoft's extensions
 * (learn.microsoft.com/connectors/custom-connectors/openapi-extensions). Without a host of its own it needs
 * `apiProperties.json`, whose policies Logic Apps does not have. Throws where the document lacks what is shown.
 */
export function deriveDefinition({ document, version, statuses, target }: ConnectorSource): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const trigger of shownTriggers(target)) {
    const { path, method, item } = triggerPath(document, trigger, statuses);
    paths[path] = { ...item, [method]: item[method] };
  }
  for (const action of actions) {
    const { path, method, operation } = findOperation(document, action.source);
    paths[path] = { ...paths[path], [method]: actionOperation(document, operation, action) };
  }
  return {
    swagger: '2.0',
    info: {
      title: 'Filing webhooks',
      description:
        'Changes of surplus-lines filings as they are seen, and the filings, events and rejections themselves.',
      version,
    },
    // With a policy for the host this name is never asked.
    host: target.kind === 'host' ? target.host : 'filings.example.com',
    // The policy for the host drops a base path, so paths are whole.
    basePath: '/',
    schemes: ['https'],
    consumes: ['application/json'],
    produces: ['application/json'],
    paths,
    definitions: definitionsFor(document, paths),
    parameters: {},
    responses: {},
    securityDefinitions: { api_key: { type: 'apiKey', in: 'header', name: 'Authorization' } },
    security: [{ api_key: [] }],
    tags: [],
    'x-ms-capabilities': { testConnection: { operationId: 'GetAccess', parameters: {} } },
  };
}

// The triggers of a connector: one on a path of its own needs a policy.
function shownTriggers(target: Target): readonly ShownTrigger[] {
  return triggers.filter(({ path }) => path === null || target.kind === 'each connection');
}
