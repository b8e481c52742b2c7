import { createHash } from 'node:crypto'
import type { BuilderVersion } from '@sandyard/db/schema/build'
import type { BuildPlan, BuildSource, BuildStep } from '../build-plan.ts'
import type { StepName } from '../build-runner.ts'
import { DEFAULT_USER } from './step-context.ts'

/** Part of every key. Increase it when the build engine itself changes what it does to images. */
const ENGINE_VERSION = '2'
const SHOWN_KEY_LENGTH = 12

/** One stage of a build, with the key of its result. */
export interface Layer {
  readonly step: StepName
  /** SHA-256 in hex over the key of the layer before and the work of this layer (control-plane.md 11.8). */
  readonly key: string
  /** Neither this layer nor one before it was forced. */
  readonly isCacheable: boolean
  readonly work: LayerWork
}

export type LayerWork =
  | { readonly kind: 'base'; readonly source: BuildSource }
  | { readonly kind: 'default-user' }
  | { readonly kind: 'step'; readonly step: BuildStep; readonly number: number; readonly of: number }
  | { readonly kind: 'finalize' }

/** The stages of a build in order. Steps are not validated here: a wrong step fails when it runs. */
export function planLayers(plan: BuildPlan, version: BuilderVersion): Layer[] {
  const layers: Layer[] = []
  const add = (step: StepName, parts: readonly string[], work: LayerWork, isForced = false): void => {
    const before = layers.at(-1)
    layers.push({ step, key: chainKey(before?.key, parts), isCacheable: !isForced && (before?.isCacheable ?? true), work })
  }
  add('base', ['base', ENGINE_VERSION, version, ...sourceParts(plan.source)], { kind: 'base', source: plan.source }, plan.force)
  if (plan.source.kind === 'image' && version === 'v2.1.0') add('base', ['default user', DEFAULT_USER], { kind: 'default-user' })
  for (const [at, step] of plan.steps.entries()) {
    const parts = [step.type.toUpperCase(), step.args.join(' '), ...argLengths(step), step.filesHash ?? '']
    add(`${at + 1}`, parts, { kind: 'step', step, number: at + 1, of: plan.steps.length }, step.force)
  }
  add('finalize', ['finalize', commandPart(plan.startCmd), commandPart(plan.readyCmd)], { kind: 'finalize' })
  return layers
}

/** The title of a layer in the log, without its outcome. */
export function layerTitle({ work, key }: Layer): string {
  const hash = `[${key.slice(0, SHOWN_KEY_LENGTH)}]`
  switch (work.kind) {
    case 'base':
      return `[base] ${sourceTitle(work.source)} ${hash}`
    case 'default-user':
      return `[base] DEFAULT USER ${DEFAULT_USER} ${hash}`
    case 'step':
      return `${stepPrefix(work)} ${work.step.type.toUpperCase()} ${work.step.args.join(' ')} ${hash}`
    case 'finalize':
      return `[finalize] Finalizing template build ${hash}`
  }
}

export function stepPrefix({ number, of }: { readonly number: number; readonly of: number }): string {
  return `[builder ${number}/${of}]`
}

function sourceTitle(source: BuildSource): string {
  switch (source.kind) {
    case 'image':
      return `FROM ${source.reference}`
    case 'template':
      return `FROM TEMPLATE ${source.reference}`
    case 'dockerfile':
      return 'FROM Dockerfile'
  }
}

/** An image counts by the text of its reference, even if its tag moved; a template by its build. */
function sourceParts(source: BuildSource): string[] {
  switch (source.kind) {
    case 'image':
      return ['image', source.reference]
    case 'template':
      return ['template', source.buildId]
    case 'dockerfile':
      return ['dockerfile', source.text]
  }
}

/** Distinguishes arguments that join to the same text: `a b`, `c` and `a`, `b c`. */
function argLengths({ args }: BuildStep): string[] {
  return [args.map((arg) => arg.length).join(',')]
}

/** An absent command differs from an empty one. */
function commandPart(command: string | undefined): string {
  return command === undefined ? 'none' : `given ${command}`
}

function chainKey(parent: string | undefined, parts: readonly string[]): string {
  return createHash('sha256')
    .update([parent ?? '', ...parts].join(';'))
    .digest('hex')
}
