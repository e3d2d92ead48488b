import type { Schema, Schemas } from './schemas.ts';

/** The parts of the daemon's OpenAPI 3.1 document that a connector is derived from. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly components: { readonly schemas: Schemas };
  readonly webhooks: Readonly<Record<string, { readonly post: ApiOperation }>>;
}

export interface ApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly ApiParameter[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

export interface ApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Body {
  readonly required?: boolean;
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

/** An operation of the document and where it stands. */
export interface FoundOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: ApiOperation;
}

/** Finds an operation by its id; throws where the daemon has no such operation. */
export function findOperation(document: ApiDocument, operationId: string): FoundOperation {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId === operationId) return { path, method, operation };
    }
  }
  throw new Error(`the daemon has no operation ${operationId}`);
}

/** The schema of a body of JSON; throws where there is none. */
export function jsonSchema(body: Body | undefined, what: string): Schema {
  const schema = body?.content?.['application/json']?.schema;
  if (schema === undefined) throw new Error(`${what} has no schema of a body of JSON`);
  return schema;
}
