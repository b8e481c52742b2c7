interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly security?: readonly unknown[]
  readonly parameters?: readonly { readonly name: string; readonly description?: string }[]
  readonly requestBody?: Body
  readonly responses?: Readonly<Record<string, Body & { readonly $ref?: string }>>
}

interface Body {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}

interface Schema {
  readonly $ref?: string
  readonly properties?: object
  readonly items?: Schema
}

interface Document {
  readonly tags?: readonly { readonly name: string }[]
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** What a valid document can still lack: one sentence for each operation with a gap. */
export function findGaps(document: Document): string[] {
  const tags = new Set(document.tags?.map(({ name }) => name))
  return Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const gaps = gapsOf(operation, tags)
      return gaps.length === 0 ? [] : [`${method.toUpperCase()} ${path} has ${gaps.join(', ')}`]
    }),
  )
}

function gapsOf(operation: Operation, tags: ReadonlySet<string>): string[] {
  const { operationId, summary, security, parameters = [], requestBody, responses = {} } = operation
  const bodies = [requestBody, ...Object.values(responses)].flatMap((body) => Object.values(body?.content ?? {}))
  const undescribed = parameters.filter(({ description = '' }) => description === '').map(({ name }) => name)
  return [
    ...(operationId === undefined ? ['no id'] : []),
    ...(summary === undefined ? ['no summary'] : []),
    ...(operation.tags?.length === 1 && operation.tags.every((tag) => tags.has(tag)) ? [] : ['no tag that is described']),
    ...(security === undefined ? ['no security'] : []),
    ...(security?.length === 0 || Object.hasOwn(responses, '401') ? [] : ['no answer for refused credentials']),
    ...(undescribed.length === 0 ? [] : [`parameters without a description: ${undescribed.join(', ')}`]),
    ...(bodies.some(({ schema }) => isUnnamed(schema)) ? ['a body whose shape has no name'] : []),
  ]
}

function isUnnamed(schema: Schema | undefined): boolean {
  const shape = schema?.items ?? schema
  return shape !== undefined && shape.$ref === undefined && shape.properties !== undefined
}
