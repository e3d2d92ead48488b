import { type ApiDocument, mapValues, rewrite } from './finish-document.ts';

/**
 * The OpenAPI 3.1 document as OpenAPI 3.0, for generators that know no other; pure. Version 3.0 has no
 * webhooks: they are callbacks of the operation that subscribes.
 */
export function toOpenApi30(document: ApiDocument): object {
  const { webhooks = {}, paths = {}, ...rest } = rewrite(document, olderKeyword) as ApiDocument;
  const callbacks = mapValues(webhooks, (webhook) => ({ '{$request.body#/url}': webhook }));
  return {
    ...rest,
    openapi: '3.0.4',
    paths: mapValues(paths, (methods) =>
      mapValues(methods, (operation) =>
        operation.operationId === 'createSubscription' ? { ...operation, callbacks } : operation,
      ),
    ),
  };
}

// Version 3.0 does not have the first; generators of Java make a set of the second that does not compile.
const dropped: ReadonlySet<string> = new Set(['propertyNames', 'uniqueItems']);

function olderKeyword(keyword: string, value: unknown): [string, unknown][] | null {
  if (keyword === 'const') return [['enum', [value]]];
  if (dropped.has(keyword)) return [];
  if (keyword === 'license') return [['license', withUrl(value as License)]];
  if (!Array.isArray(value)) return null;
  if (keyword === 'examples') return [['example', value[0]]];
  if (keyword !== 'type') return null;
  const types = (value as string[]).filter((each) => each !== 'null');
  // Version 3.0 has one type or any.
  const type: [string, unknown][] = types.length === 1 ? [['type', types[0]]] : [];
  return types.length < value.length ? [...type, ['nullable', true]] : type;
}

interface License {
  readonly name: string;
  readonly identifier: string;
}

function withUrl({ name, identifier }: License) {
  return { name, url: `https://spdx.org/licenses/${identifier}.html` };
}
