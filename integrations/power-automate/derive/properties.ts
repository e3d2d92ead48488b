import { findOperation, type ApiDocument } from './document.ts';
import { triggers } from './shown/triggers.ts';

/**
 * What a connection asks for, and the policies of the connector: `apiProperties.json` as `paconn` takes it
 * (learn.microsoft.com/connectors/custom-connectors/paconn-cli).
 */
export function deriveProperties(document: ApiDocument): Readonly<Record<string, unknown>> {
  return {
    properties: {
      connectionParameters: {
        address: {
          type: 'string',
          uiDefinition: {
            displayName: 'Address',
            description: "The daemon's PUBLIC_URL, such as https://filings.example.com",
            tooltip: 'With https:// and without a slash at the end.',
            constraints: { tabIndex: 2, required: 'true' },
          },
        },
        api_key: {
          type: 'securestring',
          uiDefinition: {
            displayName: 'Token',
            description: 'The word Bearer, a space, and a token of the account',
            tooltip: 'Bearer fwt_…',
            constraints: { tabIndex: 3, clearText: false, required: 'true' },
          },
        },
      },
      iconBrandColor: '#1f5fd0',
      capabilities: ['actions'],
      policyTemplateInstances: [
        {
          // learn.microsoft.com/connectors/custom-connectors/policy-templates/dynamichosturl/dynamichosturl
          templateId: 'dynamichosturl',
          title: "Send requests to the connection's address",
          parameters: { 'x-ms-apimTemplateParameter.urlTemplate': "@connectionParameters('address')" },
        },
        ...routes(document),
      ],
    },
  };
}

// Two triggers cannot share a path, so the second has one of its own that is routed to the first's:
// learn.microsoft.com/connectors/custom-connectors/policy-templates/routerequesttoendpoint/routerequesttoendpoint
function routes(document: ApiDocument): object[] {
  const { path } = findOperation(document, 'createSubscription');
  return triggers
    .filter((trigger) => trigger.path !== null)
    .map(({ operationId, summary }) => ({
      templateId: 'routerequesttoendpoint',
      title: `Subscribe: ${summary}`,
      parameters: {
        'x-ms-apimTemplateParameter.newPath': path,
        'x-ms-apimTemplate-operationName': [operationId],
      },
    }));
}
