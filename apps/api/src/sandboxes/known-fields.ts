interface ObjectSchema {
  readonly properties?: Readonly<Record<string, ObjectSchema>>
}

/** What of a valid body its schema knows: the rest means nothing (control-plane.md 1.5). Free-form objects are left as they are. */
export function knownFields(schema: ObjectSchema, value: unknown): unknown {
  const { properties } = schema
  if (properties === undefined || value === null || typeof value !== 'object') return value
  const names = Object.keys(properties).filter((name) => Object.hasOwn(value, name))
  return Object.fromEntries(
    names.map((name) => [name, knownFields(properties[name] ?? {}, (value as Readonly<Record<string, unknown>>)[name])]),
  )
}
