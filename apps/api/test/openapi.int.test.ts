import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, type World } from './support/control-plane.ts'

interface Schema {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
  readonly enum?: readonly string[]
  readonly title?: string
  readonly deprecated?: boolean
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema
  readonly patternProperties?: Readonly<Record<string, Schema>>
}

interface Body {
  readonly content: { readonly 'application/json': { readonly schema: Schema } }
}

interface Operation {
  readonly deprecated?: boolean
  readonly security: readonly Record<string, unknown>[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean; readonly schema: Schema }[]
  readonly requestBody?: Body
  readonly responses: Readonly<Record<string, Body>>
}

type Shape = Readonly<Record<string, string>>

let world: World
let document: { readonly info: { version: string }; readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }

beforeAll(async () => {
  world = await createWorld()
  const server = await world.startServer()
  document = (await server.call('GET', '/openapi.json', { apiKey: null })).body
})
afterAll(() => world[Symbol.asyncDispose]())

/** A schema in the notation of the seed's tables: `int32 >= 1`, `date-time | null`, `string[]`, `deprecated string`. */
function inWords(schema: Schema): string {
  const types = [schema.type ?? []].flat()
  const [kind = 'object'] = types.filter((type) => type !== 'null')
  const named = kind === 'object' && schema.properties !== undefined ? (schema.title ?? kind) : kind
  const base =
    kind === 'array' && schema.items !== undefined ? `${inWords(schema.items)}[]` : (schema.enum?.join(' ') ?? schema.format ?? named)
  return [
    schema.deprecated === true ? `deprecated ${base}` : base,
    ...(schema.minimum === undefined ? [] : [`>= ${schema.minimum}`]),
    ...(schema.maximum === undefined ? [] : [`<= ${schema.maximum}`]),
    ...(types.includes('null') ? ['| null'] : []),
  ].join(' ')
}

/** An object's fields; optional ones end with `?`. */
function fieldsOf({ properties = {}, required = [] }: Schema): Shape {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [required.includes(name) ? name : `${name}?`, inWords(schema)]),
  )
}

function find(method: string, path: string): Operation {
  const operation = document.paths[path]?.[method.toLowerCase()]
  if (operation === undefined) throw new Error(`${method} ${path} is not described`)
  return operation
}

function schemaOf(body: Body | undefined): Schema {
  if (body === undefined) throw new Error('nothing is described')
  return body.content['application/json'].schema
}

const LEGACY: Shape = {
  templateID: 'string',
  buildID: 'string',
  cpuCount: 'int32 >= 1',
  memoryMB: 'int32 >= 128',
  diskSizeMB: 'int32 >= 0',
  public: 'boolean',
  aliases: 'string[]',
  createdAt: 'date-time',
  updatedAt: 'date-time',
  createdBy: 'TeamUser | null',
  lastSpawnedAt: 'date-time | null',
  spawnCount: 'int64',
  buildCount: 'int32',
  envdVersion: 'string',
  'names?': 'string[]',
  'buildStatus?': 'building waiting ready error uploaded',
}

const WITH_BUILDS: Shape = {
  templateID: 'string',
  public: 'boolean',
  aliases: 'deprecated string[]',
  names: 'string[]',
  createdAt: 'date-time',
  updatedAt: 'date-time',
  lastSpawnedAt: 'date-time | null',
  spawnCount: 'int64',
  builds: 'TemplateBuild[]',
}

const SANDBOX: Shape = {
  templateID: 'string',
  sandboxID: 'string',
  clientID: 'deprecated string',
  startedAt: 'date-time',
  endAt: 'date-time',
  envdVersion: 'string',
  cpuCount: 'int32 >= 1',
  memoryMB: 'int32 >= 128',
  diskSizeMB: 'int32 >= 0',
  state: 'running paused',
  'alias?': 'string',
  'envdAccessToken?': 'string | null',
  'allowInternetAccess?': 'boolean | null',
  'domain?': 'deprecated string | null',
  'metadata?': 'object',
  'network?': 'SandboxNetwork',
  'lifecycle?': 'SandboxLifecycle',
  'volumeMounts?': 'SandboxVolumeMount[]',
}

const UPDATE = { request: { 'public?': 'boolean' }, answer: [200, { names: 'string[]' }] } as const

interface Row {
  readonly auth: 'ApiKeyAuth' | 'AccessTokenAuth'
  readonly deprecated?: boolean
  readonly request?: Shape
  readonly answer: readonly [status: number, shape: Shape]
}

/** The platform rows of the seed. */
const ROWS: readonly [method: string, path: string, row: Row][] = [
  [
    'POST',
    '/v2/templates',
    {
      auth: 'ApiKeyAuth',
      deprecated: true,
      request: { alias: 'string', 'teamID?': 'deprecated string', 'cpuCount?': 'int32 >= 1', 'memoryMB?': 'int32 >= 128' },
      answer: [202, LEGACY],
    },
  ],
  ['GET', '/sandboxes/{sandboxID}', { auth: 'ApiKeyAuth', answer: [200, SANDBOX] }],
  ['GET', '/templates/{templateID}', { auth: 'ApiKeyAuth', answer: [200, WITH_BUILDS] }],
  [
    'POST',
    '/templates/{templateID}',
    {
      auth: 'AccessTokenAuth',
      deprecated: true,
      request: {
        dockerfile: 'string',
        'alias?': 'string',
        'teamID?': 'deprecated string',
        'startCmd?': 'string',
        'readyCmd?': 'string',
        'cpuCount?': 'int32 >= 1',
        'memoryMB?': 'int32 >= 128',
      },
      answer: [202, LEGACY],
    },
  ],
  [
    'POST',
    '/templates/tags',
    { auth: 'ApiKeyAuth', request: { target: 'string', tags: 'string[]' }, answer: [201, { tags: 'string[]', buildID: 'uuid' }] },
  ],
  ['PATCH', '/templates/{templateID}', { auth: 'ApiKeyAuth', deprecated: true, ...UPDATE }],
  ['PATCH', '/v2/templates/{templateID}', { auth: 'ApiKeyAuth', ...UPDATE }],
]

describe('/openapi.json describes the rows of the seed', () => {
  it.each(ROWS)('%s %s', (method, path, { auth, deprecated = false, request, answer: [status, shape] }) => {
    const operation = find(method, path)
    expect(operation.deprecated ?? false).toBe(deprecated)
    expect(operation.security).toContainEqual({ [auth]: [] })
    if (auth === 'AccessTokenAuth') expect(operation.security).toEqual([{ AccessTokenAuth: [] }])
    if (request !== undefined) expect(fieldsOf(schemaOf(operation.requestBody))).toEqual(request)
    expect(Object.keys(operation.responses).filter((code) => code.startsWith('2'))).toEqual([String(status)])
    expect(fieldsOf(schemaOf(operation.responses[status]))).toMatchObject(shape)
    const inPath = (operation.parameters ?? [])
      .filter((parameter) => parameter.in === 'path')
      .map(({ name, required }) => ({ name, required }))
    expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, required: true })))
    for (const code of [400, 401, 500]) {
      expect(fieldsOf(schemaOf(operation.responses[code]))).toMatchObject({ code: 'int32', message: 'string' })
    }
  })

  it('describes the paging of a template', () => {
    const parameters = find('GET', '/templates/{templateID}').parameters ?? []
    const query = parameters.filter((parameter) => parameter.in === 'query')
    expect(Object.fromEntries(query.map(({ name, required, schema }) => [required ? name : `${name}?`, inWords(schema)]))).toEqual({
      'nextToken?': 'string',
      'limit?': 'int32 >= 1 <= 100',
    })
    expect(query.find(({ name }) => name === 'limit')?.schema.default).toBe(100)
  })

  it('describes nested objects', () => {
    const template = schemaOf(find('GET', '/templates/{templateID}').responses[200]).properties
    expect(fieldsOf(template?.['builds']?.items ?? {})).toMatchObject({
      buildID: 'uuid',
      createdAt: 'date-time',
      updatedAt: 'date-time',
      cpuCount: 'int32 >= 1',
      memoryMB: 'int32 >= 128',
      'finishedAt?': 'date-time',
      'diskSizeMB?': 'int32 >= 0',
      'envdVersion?': 'string',
    })
    expect(fieldsOf(template?.['createdBy'] ?? {})).toEqual({ id: 'uuid', email: 'string' })
    const sandbox = schemaOf(find('GET', '/sandboxes/{sandboxID}').responses[200]).properties
    expect(fieldsOf(sandbox?.['network'] ?? {})).toMatchObject({
      'allowPublicTraffic?': 'boolean',
      'allowOut?': 'string[]',
      'denyOut?': 'string[]',
      'maskRequestHost?': 'string',
    })
    expect(fieldsOf(sandbox?.['lifecycle'] ?? {})).toMatchObject({ autoResume: 'boolean' })
    expect(fieldsOf(sandbox?.['volumeMounts']?.items ?? {})).toEqual({ name: 'string', path: 'string', 'readOnly?': 'boolean' })
  })

  it('has the version of the interface', () => expect(document.info.version).toBe('0.1.0'))
})

describe('/openapi.json', () => {
  const PAGED = ['/v2/templates', '/templates/{templateID}']

  it.each(PAGED)('describes the next-page header of %s', (path) => {
    const { headers } = find('GET', path).responses['200'] as Body & { headers?: object }
    expect(headers).toHaveProperty('X-Next-Token')
  })

  it('gives every body of templates, tags and builds a title', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      if (!path.includes('template')) continue
      for (const [method, { requestBody, responses }] of Object.entries(methods)) {
        const schemas = [requestBody, ...Object.values(responses)].flatMap((body) => body?.content?.['application/json'].schema ?? [])
        const untitled = schemas
          .map((schema) => schema.items ?? schema)
          .filter(({ type, title }) => type === 'object' && title === undefined)
        expect(untitled, `${method} ${path}`).toEqual([])
      }
    }
  })
})
