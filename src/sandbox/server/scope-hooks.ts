import { type Accounts } from '../accounts.ts';
import { SandboxError } from '../errors.ts';
import { type SandboxApp } from '../sandbox-app.ts';
import { IsObject, type TObject } from 'typebox';

/** Refuses every request of a scope without a valid key, even for a path that does not exist. */
export function addKeyCheck(app: SandboxApp, accounts: Accounts): void {
  app.decorateRequest('account');
  app.addHook('onRequest', async (request) => {
    const key = request.headers['partnerkey'];
    if (typeof key !== 'string' || key === '') {
      throw new SandboxError('PARTNER_KEY_MISSING', 'the PartnerKey header is missing');
    }
    const account = accounts.byKey(key);
    if (account === undefined) throw new SandboxError('PARTNER_KEY_INVALID', 'the partner key is not valid');
    request.setDecorator('account', account);
  });
}

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
