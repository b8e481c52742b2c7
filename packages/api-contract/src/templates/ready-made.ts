import { Type, type Static } from 'typebox'
import { Nullable } from '../nullable.ts'

/** `absent`: not built yet. `taken`: an administrator gave the name to another template, which is what creates get. */
const state = Type.Union(
  [Type.Literal('absent'), Type.Literal('building'), Type.Literal('installed'), Type.Literal('failed'), Type.Literal('taken')],
  { description: 'A template that is built again stays installed meanwhile' },
)

const ReadyMadeBuild = Type.Object(
  {
    buildID: Type.String(),
    version: Type.Integer({ description: 'The version of the template that it builds' }),
    startedAt: Type.String({ format: 'date-time' }),
    steps: Type.Integer({ description: 'Steps in all' }),
    step: Nullable(Type.Integer({ description: 'The step that runs, from 1; null before the first and after the last one' })),
    lastLine: Nullable(Type.String({ description: 'The newest line of its log' })),
  },
  { title: 'ReadyMadeBuild' },
)

const ReadyMadeFailure = Type.Object(
  {
    buildID: Type.String(),
    message: Type.String(),
    failedAt: Type.String({ format: 'date-time' }),
    retryAt: Type.String({ format: 'date-time', description: 'Before that it is not built again' }),
  },
  { title: 'ReadyMadeFailure' },
)

/** A template that comes with the server (docs/templates.md). */
export const ReadyMadeTemplate = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    state,
    version: Type.Integer({ description: 'The version of this server' }),
    installedVersion: Nullable(Type.Integer({ description: 'The version that sandboxes start from' })),
    isOutdated: Type.Boolean({ description: 'Installed, and this server has a newer version' }),
    templateID: Nullable(Type.String()),
    build: Nullable(ReadyMadeBuild),
    failure: Nullable(ReadyMadeFailure),
  },
  { title: 'ReadyMadeTemplate' },
)
export type ReadyMadeTemplate = Static<typeof ReadyMadeTemplate>
