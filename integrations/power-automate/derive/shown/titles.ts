// Titles that do not follow from the name.
const own: Readonly<Record<string, string>> = {
  at: 'Seen At',
  by: 'Seen By',
  byReason: 'Rejections by Reason',
  byState: 'Rejections by State',
  data: 'Event Data',
  id: 'ID',
  insuredsName: "Insured's Name",
  carriersName: "Carrier's Name",
  items: 'Items',
  notAfter: 'Not After',
  notBefore: 'Not Before',
  stateAbbr: 'State Abbreviation',
  url: 'Callback URL',
};

/**
 * The title of a field, for `x-ms-summary`: title case, as Microsoft asks for
 * (learn.microsoft.com/connectors/custom-connectors/connector-string-guidance).
 */
export function titleOf(name: string): string {
  return (
    own[name] ??
    name
      .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
      .split(' ')
      .map((word) => (word === 'Id' ? 'ID' : word.charAt(0).toUpperCase() + word.slice(1)))
      .join(' ')
  );
}
