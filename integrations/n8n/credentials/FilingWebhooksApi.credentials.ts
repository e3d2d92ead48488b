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
      description: 'Address of the filing-webhooks daemon',
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
      baseURL: '={{$credentials.baseUrl.replace(/(\\/v1)?\\/*$/, "")}}',
      url: '=/v1/accounts/{{encodeURIComponent($credentials.account)}}',
    },
    rules: [
      {
        type: 'responseCode',
        properties: {
          value: 401,
          message: 'The token is wrong, expired or revoked. Enter another one.',
        },
      },
      {
        type: 'responseCode',
        properties: {
          value: 404,
          message:
            'filing-webhooks has no such account, or the token is of another account. Check Account; where the name is right, check that Base URL is the address of filing-webhooks.',
        },
      },
    ],
  };
}
