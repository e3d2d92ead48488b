import type {
  IAuthenticateGeneric,
  Icon,
  ICredentialTestRequest,
  ICredentialType,
  INodeProperties,
} from 'n8n-workflow';

/** Where a filing-webhooks daemon is, which account is meant, and the token that opens it. */
export class FilingWebhooksApi implements ICredentialType {
  name = 'filingWebhooksApi';

  displayName = 'Filing Webhooks API';

  icon: Icon = {
    light: 'file:../icons/filing-webhooks.svg',
    dark: 'file:../icons/filing-webhooks.dark.svg',
  };

  documentationUrl = 'https://example.com/filing-webhooks/integrations/n8n#credentials';

  properties: INodeProperties[] = [
    {
      displayName: 'Base URL',
      name: 'baseUrl',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'https://filings.example.com',
      description: 'Address of the filing-webhooks daemon, without /v1',
    },
    {
      displayName: 'Token',
      name: 'token',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      description:
        'A token of the account, best one that manages only the subscriptions that it made (subscriptions: "own")',
    },
    {
      displayName: 'Account',
      name: 'account',
      type: 'string',
      default: 'default',
      required: true,
      description: 'Name of the account at filing-webhooks whose filings are meant',
    },
  ];

  authenticate: IAuthenticateGeneric = {
    type: 'generic',
    properties: { headers: { Authorization: '=Bearer {{$credentials.token}}' } },
  };

  test: ICredentialTestRequest = {
    request: {
      baseURL: '={{$credentials.baseUrl.replace(/[/]+$/, "")}}',
      url: '=/v1/accounts/{{encodeURIComponent($credentials.account)}}',
    },
  };
}
