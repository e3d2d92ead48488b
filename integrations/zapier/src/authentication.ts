import type { Authentication, Bundle, ZObject } from 'zapier-platform-core';
import { readAddress } from './address.ts';
import { callApi } from './api.ts';

/** The connection: where the daemon is, a token of it, and the account that the Zaps are about. */
export const authentication: Authentication = {
  type: 'custom',
  fields: [
    {
      key: 'baseUrl',
      label: 'Address of the daemon',
      type: 'string',
      required: true,
      placeholder: 'https://filings.example.com',
      helpText: 'Where the dashboard opens. It must be reachable from the internet by https.',
    },
    {
      key: 'token',
      label: 'Token',
      type: 'password',
      required: true,
      helpText:
        'A token of the account, made with `"subscriptions": "own"`: it reads the account and manages only what these Zaps register. To mark rejections as seen it needs a token without that.',
    },
    {
      key: 'account',
      label: 'Account',
      type: 'string',
      required: true,
      default: 'default',
      helpText: 'Name of the account whose filings the Zaps are about.',
    },
  ],
  test: testConnection,
  connectionLabel: '{{account}} at {{host}}',
};

/** Reads the account: the answer proves address, token and account at once. */
async function testConnection(z: ZObject, bundle: Bundle): Promise<{ account: string; host: string }> {
  const { account } = await callApi<{ account?: unknown }>(z, bundle, { path: '' });
  const address = readAddress(bundle.authData['baseUrl']);
  if (typeof account !== 'string' || 'wrong' in address)
    throw new z.errors.Error(
      'The answer is not an account of filing-webhooks. Check the address.',
      'not_filing_webhooks',
    );
  return { account, host: address.url.host };
}
