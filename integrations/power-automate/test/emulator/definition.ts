import { readFileSync } from 'node:fs';

/** A connector's definition in OpenAPI 2.0, as far as the service reads it. */
export interface Definition {
  readonly host: string;
  readonly basePath: string;
  readonly schemes: readonly string[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly definitions: Readonly<Record<string, Schema>>;
  readonly securityDefinitions: Readonly<Record<string, { type: string; name: string; in: string }>>;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}

export type Schema = Readonly<Record<string, unknown>>;

export type PathItem = Readonly<Record<string, Operation>> & {
  readonly 'x-ms-notification-content'?: { readonly schema: Schema };
};

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, { readonly description: string; readonly schema?: Schema }>>;
  readonly 'x-ms-trigger'?: 'single' | 'batch';
  readonly 'x-ms-visibility'?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'body';
  readonly required?: boolean;
  readonly default?: unknown;
  readonly schema?: Schema;
  readonly 'x-ms-dynamic-values'?: DynamicValues;
}

export interface DynamicValues {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly 'value-collection': string;
  readonly 'value-path': string;
  readonly 'value-title': string;
}

/** The file of a connector's properties, as far as the service reads it. */
export interface Properties {
  readonly properties: {
    readonly iconBrandColor: string;
    readonly connectionParameters: Readonly<Record<string, ConnectionParameter>>;
    readonly policyTemplateInstances: readonly Policy[];
  };
}

export interface ConnectionParameter {
  readonly type: 'string' | 'securestring';
  readonly uiDefinition: { readonly constraints: { readonly required?: string } };
}

export interface Policy {
  readonly templateId: string;
  readonly title: string;
  readonly parameters: Readonly<Record<string, string | readonly string[]>>;
}

/** A connector as it is imported: its two files. */
export interface Connector {
  readonly definition: Definition;
  readonly properties: Properties;
}

/** An operation and where it stands. */
export interface Found {
  readonly path: string;
  readonly method: string;
  readonly item: PathItem;
  readonly operation: Operation;
}

/** The connector that is checked in. */
export function importConnector(): Connector {
  const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
  return {
    definition: read('apiDefinition.swagger.json') as Definition,
    properties: read('apiProperties.json') as Properties,
  };
}

/** All operations of a definition. */
export function operationsOf({ paths }: Definition): Found[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => !method.startsWith('x-'))
      .map(([method, operation]) => ({ path, method, item, operation: operation as Operation })),
  );
}

/** The operation with this id; throws where there is none. */
export function operationOf(definition: Definition, operationId: string): Found {
  const found = operationsOf(definition).find(({ operation }) => operation.operationId === operationId);
  if (found === undefined) throw new Error(`the connector has no operation ${operationId}`);
  return found;
}
