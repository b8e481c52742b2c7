/** The colours follow the reader's light or dark mode. */
export const STYLE = `
:root { color-scheme: light dark; --back: #ffffff; --card: #f6f7f9; --text: #1c2128; --quiet: #5d6773; --line: #d9dee4;
  --ours: #2160c4; --other: #b8610b; --good: #1a7f37; --bad: #c4262e; }
@media (prefers-color-scheme: dark) { :root { --back: #0f1318; --card: #171c23; --text: #e4e8ed; --quiet: #98a3b0; --line: #2e3640;
  --ours: #75a7ff; --other: #f0a04b; --good: #4cc26a; --bad: #ff7b72; } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 880px; padding: 24px 16px 64px; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
h1 { font-size: 26px; margin: 0 0 4px } h2 { font-size: 20px; margin: 40px 0 8px } h3 { font-size: 16px; margin: 0 }
header p { color: var(--quiet); margin: 6px 0 } a { color: inherit }
.summary b, .summary span { margin-right: 14px; font-size: 17px } .met { color: var(--good) } .missed { color: var(--bad) } .quiet { color: var(--quiet) }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 50%; margin-left: 4px }
.legend i.ours { background: var(--ours) } .legend i.other { background: var(--other) }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 18px; margin: 14px 0 }
.goal, .absent { margin: 2px 0 6px; color: var(--quiet); font-size: 14px }
svg { display: block; width: 100%; height: auto; font: 11px system-ui, sans-serif }
svg .grid, svg .base { stroke: var(--line); stroke-width: 1 } svg .tick, svg .unit { fill: var(--quiet) }
svg .ours { --side: var(--ours) } svg .other { --side: var(--other) }
svg .name { fill: var(--side); font-size: 13px; font-weight: 600 } svg circle { fill: var(--side); fill-opacity: 0.55 }
svg rect { fill: var(--side); fill-opacity: 0.55 } svg .mark line { stroke: var(--side); stroke-width: 2 }
svg .p95 line { stroke-dasharray: 5 3 } svg .p99 line { stroke-dasharray: 1.5 2.5 }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums }
td, th { text-align: right; padding: 2px 0 2px 22px; font-weight: 400 } th { color: var(--quiet) }
th:first-child, .goals td:nth-child(-n + 2), .goals th:nth-child(-n + 2), .goals td:last-child, .goals th:last-child { text-align: left }
section th:first-child { padding-left: 0 } section .ours th { color: var(--ours) } section .other th { color: var(--other) }
.goals { width: 100%; margin: 18px 0 } .goals td, .goals th { padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top }
.goals td:nth-child(n + 3) { white-space: nowrap } small { color: var(--quiet) }
`
