import { IsObject, type TObject } from 'typebox';
import type { SandboxApp } from '../sandbox-app.ts';

/**
 * Treats `null` in an optional field of a body as if the field were left out, on every route of the scope.
 */
export function takeNullAsAbsent(app: SandboxApp): void {
  app.addHook('preValidation', async (request) => {
    const schema = request.routeOptions.schema?.body;
    if (IsObject(schema)) request.body = withoutNulls(request.body, schema);
  });
}

function withoutNulls(body: unknown, { properties, required }: TObject): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const optional = new Set(Object.keys(properties));
  for (const name of required) optional.delete(name);
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== null || !optional.has(name)),
  );
}
