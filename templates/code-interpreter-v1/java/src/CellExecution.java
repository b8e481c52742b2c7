import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import jdk.jshell.execution.LocalExecutionControl;
import jdk.jshell.spi.ExecutionControl;
import jdk.jshell.spi.ExecutionControlProvider;
import jdk.jshell.spi.ExecutionEnv;

/** Runs the code of cells in this process, in a thread of its own that can be interrupted. */
final class CellExecution {
    /** How long code may take to notice an interrupt before its thread is stopped, again and again. */
    private static final long STOP_AFTER_MS = 500;

    private final Object lock = new Object();
    private Thread thread;
    private boolean runs;
    private boolean isInterrupted;
    private String value;

    ExecutionControlProvider provider() {
        return new ExecutionControlProvider() {
            @Override
            public String name() {
                return "cells";
            }

            @Override
            public ExecutionControl generate(ExecutionEnv environment, Map<String, String> parameters) {
                return new Control();
            }
        };
    }

    void begin() {
        synchronized (lock) {
            runs = true;
            isInterrupted = false;
        }
    }

    void end() {
        synchronized (lock) {
            runs = false;
        }
    }

    /** Interrupts the cell that runs, and stops the thread of one that goes on. */
    void interrupt() {
        synchronized (lock) {
            if (!runs || isInterrupted) return;
            isInterrupted = true;
            if (thread != null) thread.interrupt();
        }
        Thread stopper = new Thread(this::stopWhileItRuns, "stop");
        stopper.setDaemon(true);
        stopper.start();
    }

    boolean isInterrupted() {
        synchronized (lock) {
            return isInterrupted;
        }
    }

    /** The value of the last snippet that ran, or null. */
    String takeValue() {
        synchronized (lock) {
            String taken = value;
            value = null;
            return taken;
        }
    }

    @SuppressWarnings("removal")
    private void stopWhileItRuns() {
        try {
            while (true) {
                Thread stopped;
                synchronized (lock) {
                    stopped = thread;
                    if (!runs || !isInterrupted || stopped == null) return;
                }
                stopped.join(STOP_AFTER_MS);
                synchronized (lock) {
                    if (thread == stopped && isInterrupted) stopped.stop();
                }
            }
        } catch (InterruptedException err) {
            Thread.currentThread().interrupt();
        }
    }

    private void execute(Method method) throws Exception {
        Throwable[] thrown = new Throwable[1];
        Thread executing = new Thread(() -> {
            try {
                Object result = method.invoke(null);
                // What printf returns is no value of a cell.
                String text = result == null || result == System.out || result == System.err ? null : toText(result);
                synchronized (lock) {
                    value = text;
                }
            } catch (InvocationTargetException err) {
                thrown[0] = err.getCause();
            } catch (Throwable err) {
                thrown[0] = err;
            }
        }, "cell");
        executing.setContextClassLoader(method.getDeclaringClass().getClassLoader());
        synchronized (lock) {
            if (isInterrupted) throw new ExecutionControl.StoppedException();
            value = null;
            thread = executing;
            executing.start();
        }
        try {
            executing.join();
        } finally {
            synchronized (lock) {
                thread = null;
            }
        }
        if (thrown[0] instanceof ThreadDeath) throw new ExecutionControl.StoppedException();
        if (thrown[0] != null) throw new InvocationTargetException(thrown[0]);
    }

    private static String toText(Object result) {
        String text = String.valueOf(result);
        if (result.getClass().isArray()) {
            // The elements, also of arrays of numbers, without the brackets of the array around it.
            String inBrackets = Arrays.deepToString(new Object[] {result});
            text = inBrackets.substring(1, inBrackets.length() - 1);
        }
        return text;
    }

    private final class Control extends LocalExecutionControl {
        @Override
        protected String invoke(Method method) throws Exception {
            execute(method);
            return "";
        }
    }
}
