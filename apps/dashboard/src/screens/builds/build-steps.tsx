import type { BuildDetail, BuildStep } from '@sandyard/dashboard-contract/templates'
import { durationText } from '../../parts/time-text.ts'
import { buildsTexts as texts } from '../../texts/builds-texts.ts'

/** Every step with its state and time. The bars compare the times. */
export function BuildSteps({ build: { steps }, now }: { readonly build: BuildDetail; readonly now: number }) {
  if (steps.length === 0) return null
  const longest = Math.max(1, ...steps.map((step) => millisecondsOf(step, now) ?? 0))
  return (
    <section class="panel" aria-labelledby="steps">
      <div class="panel-head">
        <h2 id="steps">{texts.steps}</h2>
      </div>
      <ol class="build-steps">
        {steps.map((step) => {
          const ms = millisecondsOf(step, now)
          return (
            <li key={step.step} class={`build-step build-step-${step.status}`}>
              <span class="build-step-number">{step.step}</span>
              <code class="truncate grow" title={step.text}>
                {step.text}
              </code>
              <span class="build-step-bar" aria-hidden="true">
                <i style={{ width: `${Math.round(((ms ?? 0) / longest) * 100)}%` }} />
              </span>
              <span class="build-step-time">
                {ms === undefined || step.status === 'cached' ? texts.stepStates[step.status] : durationText(ms)}
              </span>
              {ms !== undefined && step.status !== 'cached' && <span class="off-screen">{texts.stepStates[step.status]}</span>}
            </li>
          )
        })}
      </ol>
    </section>
  )
}

function millisecondsOf({ durationMs, startedAt, status }: BuildStep, now: number): number | undefined {
  if (durationMs !== null) return durationMs
  return status === 'running' && startedAt !== null ? Math.max(0, now - Date.parse(startedAt)) : undefined
}
