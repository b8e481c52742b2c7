import { OPERATIONS } from '@sandyard/api-contract/operations'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, type Server, type World } from './support/control-plane.ts'

interface Schema {
  readonly $ref?: string
  readonly anyOf?: readonly Schema[]
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
  readonly $ref?: string
  readonly content: { readonly 'application/json': { readonly schema: Schema } }
}

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly tags: readonly string[]
  readonly 'x-sandyard'?: boolean
  readonly deprecated?: boolean
  readonly security: readonly Record<string, unknown>[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean; readonly schema: Schema }[]
  readonly requestBody?: Body
  readonly responses: Readonly<Record<string, Body>>
}

type Shape = Readonly<Record<string, string>>

let world: World
let server: Server
let document: {
  readonly info: { version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>>; readonly responses: Readonly<Record<string, Body>> }
}

beforeAll(async () => {
  world = await createWorld()
  server = await world.startServer()
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
  return inline(whole(body).content['application/json'].schema)
}

/** The body that a reference names. */
function whole(body: Body): Body {
  return body.$ref === undefined ? body : (resolveReference(body.$ref) as Body)
}

/** A schema without references; one that may be null has both types. */
function inline(schema: Schema): Schema {
  const [first, second] = schema.anyOf ?? []
  if (first?.$ref !== undefined && second?.type === 'null') {
    const { type, ...rest } = inline(first)
    return { ...rest, type: [...[type ?? []].flat(), 'null'] }
  }
  const { $ref, ...place } = schema
  const shape: Schema = $ref === undefined ? place : { ...(resolveReference($ref) as Schema), ...place }
  const { items, properties } = shape
  return {
    ...shape,
    ...(items !== undefined && { items: inline(items) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, inline(field)])),
    }),
  }
}

function resolveReference($ref: string): unknown {
  const [, , kind = '', name = ''] = $ref.split('/')
  return document.components[kind as 'schemas' | 'responses'][name]
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
    if (auth === 'AccessTokenAuth') expect(operation.security.some((scheme) => 'ApiKeyAuth' in scheme)).toBe(false)
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

  it.each([
    ['PATCH', '/api-keys/{apiKeyID}'],
    ['DELETE', '/api-keys/{apiKeyID}'],
    ['DELETE', '/access-tokens/{accessTokenID}'],
  ])('describes the plain text of the 404 of %s %s', (method, path) => {
    const { '404': missing } = find(method, path).responses
    expect(missing).toEqual({ description: 'Not found', content: { 'text/plain; charset=utf-8': { schema: { type: 'string' } } } })
  })

  it('gives every body of templates, tags and builds a title', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      if (!path.includes('template')) continue
      for (const [method, { requestBody, responses }] of Object.entries(methods)) {
        const bodies = [requestBody, ...Object.values(responses)].flatMap((body) => (body === undefined ? [] : whole(body)))
        const schemas = bodies.flatMap((body) => body.content?.['application/json'].schema ?? [])
        const untitled = schemas
          .map((schema) => inline(schema.items ?? schema))
          .filter(({ type, title }) => type === 'object' && title === undefined)
        expect(untitled, `${method} ${path}`).toEqual([])
      }
    }
  })

  it('names shapes and error answers once, and refers to them', () => {
    const { responses } = find('GET', '/v2/sandboxes')
    expect(responses['200']?.content['application/json'].schema.items).toEqual({ $ref: '#/components/schemas/ListedSandbox' })
    expect(responses['401']).toEqual({ $ref: '#/components/responses/401' })
    expect(document.components.responses['401']).toEqual({
      description: 'Authentication error',
      content: { 'application/json': { schema: expect.objectContaining({ $ref: '#/components/schemas/Error' }) } },
    })
    const { NewSandbox, Sandbox, SandboxState, Template } = document.components.schemas
    expect([NewSandbox?.type, Sandbox?.type, SandboxState?.enum]).toEqual(['object', 'object', ['running', 'paused']])
    expect(Template?.properties?.['createdBy']?.anyOf).toEqual([{ $ref: '#/components/schemas/TeamUser' }, { type: 'null' }])
  })

  it('has a handler for every operation', () => {
    const served = ({ method, path }: (typeof OPERATIONS)[number]) =>
      server.app.hasRoute({ method, url: path.replaceAll(/\{(\w+)\}/g, ':$1') })
    expect(OPERATIONS.filter((operation) => !served(operation)).map(({ id }) => id)).toEqual([])
    expect(server.app.hasRoute({ method: 'GET', url: '/no-such-operation' })).toBe(false)
  })

  it('marks the operations of ours, and only those', () => {
    expect(find('GET', '/sandboxes/{sandboxID}/events')['x-sandyard']).toBe(true)
    expect(find('POST', '/events/webhooks/{webhookID}/deliveries/{deliveryID}/resend')['x-sandyard']).toBe(true)
    expect(find('POST', '/v2/sandboxes')['x-sandyard']).toBeUndefined()
  })
})

describe('/docs', () => {
  it('has pages that need no key and read everything from this server', async () => {
    const page = await server.call('GET', '/docs', { apiKey: null })
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers['content-security-policy']).toContain("default-src 'none'")
    const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => new URL(link, 'http://host.test/docs'))
    expect(links.length).toBeGreaterThan(3)
    for (const { host, pathname } of links) {
      expect(host).toBe('host.test')
      expect((await server.call('GET', pathname, { apiKey: null })).status, pathname).toBe(200)
    }
    const start = await server.call('GET', '/docs/static/swagger-initializer.js', { apiKey: null })
    expect(start.text).toContain("resolveUrl('./json')")
  })

  it('leads to the document, which does not describe the pages', async () => {
    for (const url of ['/docs/json', '/docs/yaml']) {
      const { status, headers } = await server.call('GET', url, { apiKey: null })
      expect([status, headers['location']], url).toEqual([302, '../openapi.json'])
    }
    expect(Object.keys(document.paths).filter((path) => path.startsWith('/docs'))).toEqual([])
  })

  it.each(['/docs/nothing', '/docs/static/..%2f..%2fpackage.json', '/docs/static/nothing.js'])('answers 404 for %s', async (url) => {
    expect((await server.call('GET', url, { apiKey: null })).status).toBe(404)
  })
})
