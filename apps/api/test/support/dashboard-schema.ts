import { Ajv } from 'ajv'
import { Type } from 'typebox'

/** The units of Grafana that the dashboards use. An unknown one is shown as a suffix, without an error. */
const UNITS = ['short', 's', 'bytes', 'Bps', 'percentunit', 'reqps', 'ops', 'pps']

const DATASOURCE = Type.Object({ type: Type.Literal('prometheus'), uid: Type.Literal('${datasource}') }, { additionalProperties: false })
const GRID = Type.Object(
  {
    x: Type.Integer({ minimum: 0, maximum: 23 }),
    y: Type.Integer({ minimum: 0 }),
    w: Type.Integer({ minimum: 1, maximum: 24 }),
    h: Type.Integer({ minimum: 1 }),
  },
  { additionalProperties: false },
)
const TEXT = Type.String({ minLength: 1 })

const Row = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  type: Type.Literal('row'),
  title: TEXT,
  collapsed: Type.Literal(false),
  gridPos: GRID,
  panels: Type.Array(Type.Unknown(), { maxItems: 0 }),
})

const Target = Type.Object(
  {
    refId: Type.String({ pattern: '^[A-Z]$' }),
    datasource: DATASOURCE,
    expr: TEXT,
    legendFormat: TEXT,
    instant: Type.Literal(false),
    range: Type.Literal(true),
  },
  { additionalProperties: false },
)

const Panel = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  type: Type.Union([Type.Literal('timeseries'), Type.Literal('stat')]),
  title: TEXT,
  description: TEXT,
  datasource: DATASOURCE,
  gridPos: GRID,
  targets: Type.Array(Target, { minItems: 1 }),
  fieldConfig: Type.Object({
    defaults: Type.Object({
      unit: Type.Union(UNITS.map((unit) => Type.Literal(unit))),
      thresholds: Type.Object({ mode: Type.Literal('absolute'), steps: Type.Array(Type.Object({ color: TEXT }), { minItems: 1 }) }),
    }),
    overrides: Type.Array(Type.Unknown(), { maxItems: 0 }),
  }),
  options: Type.Object({}),
})

const Variable = Type.Object({ name: Type.String({ pattern: '^[a-z]+$' }), type: Type.Enum(['datasource', 'query']) })

/** Of what Grafana's own schema asks, the part that these dashboards use (schema version 41, Grafana 12). */
const DashboardSchema = Type.Object({
  uid: Type.String({ pattern: '^sandyard-[a-z]+$', maxLength: 40 }),
  title: TEXT,
  description: TEXT,
  tags: Type.Array(TEXT),
  schemaVersion: Type.Literal(41),
  version: Type.Integer(),
  refresh: TEXT,
  time: Type.Object({ from: TEXT, to: TEXT }),
  templating: Type.Object({ list: Type.Array(Variable) }),
  annotations: Type.Object({ list: Type.Array(Type.Unknown()) }),
  panels: Type.Array(Type.Union([Row, Panel]), { minItems: 1 }),
})

export type Dashboard = Type.Static<typeof DashboardSchema>

const isDashboard = new Ajv({ allErrors: true }).compile<Dashboard>(DashboardSchema)

/** @throws Error with every violation */
export function checkDashboard(content: unknown): Dashboard {
  if (isDashboard(content)) return content
  const problems = (isDashboard.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  throw new Error(`not a dashboard:\n${problems.join('\n')}`)
}

/** The problems that a schema cannot state: ids that occur twice, panels that overlap, variables that are not declared. */
export function findFaults({ panels, templating }: Dashboard): string[] {
  const faults: string[] = []
  const ids = panels.map(({ id }) => id)
  for (const id of new Set(ids)) if (ids.filter((each) => each === id).length > 1) faults.push(`two panels have the id ${id}`)
  for (const [index, a] of panels.entries()) {
    if (a.gridPos.x + a.gridPos.w > 24) faults.push(`"${a.title}" is wider than the page`)
    for (const b of panels.slice(index + 1)) if (overlap(a.gridPos, b.gridPos)) faults.push(`"${a.title}" overlaps "${b.title}"`)
  }
  const declared = new Set(templating.list.map(({ name }) => name))
  if (!declared.has('datasource')) faults.push('there is no variable for the data source')
  for (const expr of expressionsOf(panels)) {
    for (const [, name = ''] of expr.matchAll(/\$\{?(\w+)/g)) {
      if (!declared.has(name) && name !== '__rate_interval') faults.push(`the variable ${name} is not declared: ${expr}`)
    }
  }
  return faults
}

export function expressionsOf(panels: Dashboard['panels']): string[] {
  return panels.flatMap((panel) => (panel.type === 'row' ? [] : panel.targets.map(({ expr }) => expr)))
}

type Grid = Dashboard['panels'][number]['gridPos']

function overlap(a: Grid, b: Grid): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
}
