type Json = Readonly<Record<string, unknown>>

interface Components {
  readonly schemas: Record<string, Json>
  readonly responses: Record<string, Json>
}

const METHODS: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete', 'patch'])
/** Words of a place where a shape is used, not of the shape. */
const OF_PLACE: ReadonlySet<string> = new Set(['description', 'default', 'deprecated'])
/** Of a response without words of its own. */
const MEANINGS: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'No content' }
const NO_WORDS = 'Default Response'
/** The shape of every error, which names its answers too. */
const ERROR = 'Error'

/**
 * Gives the shapes of a document their names: each object and each list of words with a title becomes a component, and so does each error answer.
 *
 * @throws Error for two different shapes with one title
 */
export function withComponents(document: Json): Json {
  const components: Components = { schemas: {}, responses: {} }
  const paths = mapValues(objectOf(document['paths']), (item) =>
    mapValues(objectOf(item), (operation, method) => (METHODS.has(method) ? namedOperation(objectOf(operation), components) : operation)),
  )
  const { schemas, responses } = { schemas: sorted(components.schemas), responses: sorted(components.responses) }
  return { ...document, paths, components: { ...objectOf(document['components']), schemas, responses } }
}

function namedOperation(operation: Json, components: Components): Json {
  const { requestBody, responses } = operation
  return {
    ...operation,
    ...(requestBody !== undefined && { requestBody: withSchemas(objectOf(requestBody), components) }),
    responses: mapValues(objectOf(responses), (response, status) => namedResponse(status, objectOf(response), components)),
  }
}

function namedResponse(status: string, response: Json, components: Components): Json {
  const { description } = response
  const words = { description: description === NO_WORDS ? (MEANINGS[status] ?? description) : description }
  const named = { ...withSchemas(response, components), ...words }
  const isError = /^[45]/.test(status) && JSON.stringify(named).includes(`"#/components/schemas/${ERROR}"`)
  // The first one of a status has the name; one with other words or headers stays where it is.
  if (!isError || !isSame((components.responses[status] ??= named), named)) return named
  return { $ref: `#/components/responses/${status}` }
}

/** The content of a body with named schemas. */
function withSchemas(body: Json, components: Components): Json {
  if (body['content'] === undefined) return body
  const content = mapValues(objectOf(body['content']), (media) => {
    const { schema, ...rest } = objectOf(media)
    return schema === undefined ? rest : { ...rest, schema: named(schema, components) }
  })
  return { ...body, content }
}

/** A schema in which every titled object and enumeration is a reference. */
function named(node: unknown, components: Components): unknown {
  if (Array.isArray(node)) return node.map((item) => named(item, components))
  if (typeof node !== 'object' || node === null) return node
  const inner = mapValues(withoutPatterns(node as Json), (value, key) => (key === 'enum' ? value : named(value, components)))
  const { title, type } = inner
  const types = [type ?? []].flat()
  const isNamed = typeof title === 'string' && (types.includes('object') || inner['enum'] !== undefined)
  if (!isNamed) return inner
  const place = Object.fromEntries(Object.entries(inner).filter(([key]) => OF_PLACE.has(key)))
  const shape = Object.fromEntries(Object.entries(inner).filter(([key]) => !OF_PLACE.has(key)))
  const reference = { $ref: `#/components/schemas/${title}` }
  const isNullable = Array.isArray(type) && types.includes('null')
  keep(components.schemas, title, { ...shape, type: isNullable ? types.find((name) => name !== 'null') : type })
  return isNullable ? { ...place, anyOf: [reference, { type: 'null' }] } : { ...place, ...reference }
}

/** A map whose keys may be any text is described by its values, which generators understand. Headers belong to the response, where they are too. */
function withoutPatterns({ patternProperties, headers: _, ...node }: Json): Json {
  const values = Object.values(objectOf(patternProperties))
  if (values.length !== 1) return { ...node, ...(patternProperties !== undefined && { patternProperties }) }
  return { ...node, additionalProperties: values[0] }
}

/** @throws Error when the name has another shape already */
function keep(components: Record<string, Json>, name: string, shape: Json): void {
  const known = components[name]
  if (known !== undefined && !isSame(known, shape)) throw new Error(`two shapes have the name ${name}`)
  components[name] = shape
}

function isSame(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function objectOf(value: unknown): Json {
  return (value ?? {}) as Json
}

function mapValues(node: Json, change: (value: unknown, key: string) => unknown): Json {
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, change(value, key)]))
}

function sorted(components: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(Object.entries(components).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
