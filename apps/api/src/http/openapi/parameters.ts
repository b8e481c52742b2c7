/** What parameters mean whose schemas do not say it, by their names. */
const PARAMETERS: Readonly<Record<string, string>> = {
  accessTokenID: 'Id of the access token',
  alias: 'Alias of the template',
  apiKeyID: 'Id of the API key',
  buildID: 'Id of the build',
  deliveryID: 'Id of the delivery',
  deliveryStatus: 'Only deliveries in this state',
  direction: 'Order of the lines',
  eventType: 'Only events of this type',
  expires: 'End of the signature, in Unix seconds',
  hash: 'SHA-256 of the files, in hex',
  limit: 'Maximum number of items a page',
  metric: 'Which metric',
  nodeID: 'Id of the node',
  offset: 'How many items to skip',
  sandboxID: 'Id of the sandbox',
  secretID: 'Id of the secret',
  signature: 'Proof that this server made the address',
  sort: 'Order of the items',
  tag: 'Name of the tag',
  teamID: 'Id of the team',
  templateID: 'Id of the template',
  userID: 'Id of the user',
  volumeID: 'Id of the volume',
  webhookID: 'Id of the webhook',
}

interface Parameter {
  readonly name: string
  readonly description?: string
}

type Paths = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Adds descriptions to parameters that have none. */
export function withParameters(paths: Paths): Paths {
  const described = (parameter: Parameter): Parameter => {
    const description = parameter.description ?? PARAMETERS[parameter.name]
    return description === undefined ? parameter : { ...parameter, description }
  }
  const ofOperation = (value: unknown): unknown => {
    const operation = value as { readonly parameters?: readonly Parameter[] }
    return operation.parameters === undefined ? operation : { ...operation, parameters: operation.parameters.map(described) }
  }
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, ofOperation(operation)])),
    ]),
  )
}
