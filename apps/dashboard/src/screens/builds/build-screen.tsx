import { useRoute, useLocation } from 'preact-iso/router'
import type { BuildDetail } from '@sandyard/dashboard-contract/templates'
import type { Topics } from '@sandyard/dashboard-contract/live/topics'
import { call } from '../../api/call.ts'
import { paths } from '../../frame/paths.ts'
import { useTopic } from '../../live/use-topic.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ErrorBoundary } from '../../parts/error-boundary.tsx'
import { LoadedPart } from '../../parts/loaded-part.tsx'
import { buildsTexts as texts } from '../../texts/builds-texts.ts'
import { BuildFacts } from './build-facts.tsx'
import { BuildLog } from './build-log.tsx'
import { BuildStateBadge } from './build-state-badge.tsx'
import { buildDuration } from './build-time.ts'
import { FailingStep } from './failing-step.tsx'
import { BuildSteps } from './build-steps.tsx'
import { useNow } from './use-now.ts'
import '../../styles/builds.css'

type Topic = Topics['build']

const MOST_LINES = 100_000

function merge(value: Topic['snapshot'], { build, lines = [] }: Topic['patch']): Topic['snapshot'] {
  const last = value.lines.at(-1)?.number ?? 0
  const fresh = lines.filter(({ number }) => number > last)
  return { build: build ?? value.build, lines: fresh.length === 0 ? value.lines : [...value.lines, ...fresh].slice(-MOST_LINES) }
}

export function BuildScreen() {
  const { buildId = '' } = useRoute().params
  const { value, failure } = useTopic<'build'>(`build:${buildId}`, merge)
  const now = useNow(value !== undefined && value.build.finishedAt === null)
  return (
    <div class="stack">
      <LoadedPart value={value} failure={failure}>
        {({ build, lines }) => (
          <>
            <BuildHead build={build} now={now} />
            <ErrorBoundary name="steps">
              <FailingStep build={build} />
              <BuildSteps build={build} now={now} />
            </ErrorBoundary>
            <ErrorBoundary name="log">
              <BuildLog build={build} lines={lines} />
            </ErrorBoundary>
            <ErrorBoundary name="facts">
              <BuildFacts build={build} />
            </ErrorBoundary>
          </>
        )}
      </LoadedPart>
      {value === undefined && <h1 class="off-screen">{texts.build}</h1>}
    </div>
  )
}

function BuildHead({ build, now }: { readonly build: BuildDetail; readonly now: number }) {
  const { route } = useLocation()
  const { buildId } = build
  const cancel = (): Promise<unknown> => call('POST /builds/{buildId}/cancel', { params: { buildId } })
  const rebuild = async (): Promise<void> => {
    const made = await call('POST /builds/{buildId}/rebuild', { params: { buildId } })
    route(paths.build(made.buildId))
  }
  return (
    <div class="page-head">
      <h1>
        {texts.build} <span class="mono">{buildId.slice(0, 8)}</span> of <a href={paths.template(build.templateId)}>{build.templateName}</a>
      </h1>
      <BuildStateBadge state={build.status} />
      <span class="muted">{outcomeOf(build, now)}</span>
      <div class="actions">
        {build.canRebuild && (
          <ActionButton done={texts.rebuilt} run={rebuild}>
            {texts.rebuild}
          </ActionButton>
        )}
        {build.canCancel && (
          <ActionButton
            kind="danger"
            done={texts.cancelled}
            confirm={{ title: texts.cancelTitle, text: texts.cancelText, button: texts.cancel }}
            run={cancel}
          >
            {texts.cancel}
          </ActionButton>
        )}
      </div>
    </div>
  )
}

function outcomeOf(build: BuildDetail, now: number): string {
  const took = buildDuration(build, now)
  const step = build.reason?.step ?? null
  if (took === undefined) return build.status === 'waiting' || build.status === 'building' ? texts.waiting : (build.reason?.message ?? '')
  if (build.status === 'failed') return texts.failedAt(step === null ? texts.end : texts.step(step), took)
  return build.status === 'ready' ? texts.succeeded(took) : texts.running(took)
}
