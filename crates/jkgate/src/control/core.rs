//! One thread that serves requests: its own runtime, its own listening sockets, its own idle channels.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustix::thread::CpuSet;
use tokio::runtime::RuntimeMetrics;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::MissedTickBehavior;

use crate::front::{self, Front};
use crate::gateway::Gateway;
use crate::stack::Stack;

pub(crate) struct Core {
    orders: UnboundedSender<CoreOrder>,
    /// Of its runtime, once there is one.
    metrics: Arc<OnceLock<RuntimeMetrics>>,
}

pub(crate) enum CoreOrder {
    Tcp(Arc<Front>, std::net::TcpListener),
    Unix(Arc<Front>, std::os::unix::net::UnixListener),
    /// Idle connections end, the others after their request.
    Drain,
    Stop,
}

impl Core {
    /// `cpu`: where its thread shall stay.
    pub(crate) fn start(index: usize, gateway: Arc<Gateway>, cpu: Option<usize>) -> Self {
        let (orders, receiver) = unbounded_channel();
        let metrics = Arc::new(OnceLock::new());
        let own = Arc::clone(&metrics);
        let spawned = std::thread::Builder::new().name(format!("core-{index}")).spawn(move || {
            if let Some(cpu) = cpu {
                stay_on(cpu);
            }
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            match runtime {
                Ok(runtime) => {
                    let _set_once = own.set(runtime.metrics());
                    runtime.block_on(run(index, gateway, receiver));
                }
                Err(error) => tracing::error!(%error, "Cannot start a thread's runtime."),
            }
        });
        if let Err(error) = spawned {
            tracing::error!(%error, "Cannot start a thread.");
        }
        Self { orders, metrics }
    }

    /// Tasks that its runtime has now.
    pub(crate) fn tasks(&self) -> usize {
        self.metrics.get().map_or(0, RuntimeMetrics::num_alive_tasks)
    }

    pub(crate) fn order(&self, order: CoreOrder) {
        let _gone_at_the_end = self.orders.send(order);
    }
}

/// For each thread a CPU of its own, if there are as many as threads. The kernel then never puts two of them on one CPU, where each would
/// wait a whole time slice for the other while its clients wait, too. With fewer threads than CPUs, or a share of them, the kernel knows better.
pub(crate) fn cpus_for(threads: usize) -> Vec<usize> {
    let Ok(allowed) = rustix::thread::sched_getaffinity(None) else { return Vec::new() };
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect();
    if threads > 1 && cpus.len() == threads { cpus } else { Vec::new() }
}

fn stay_on(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    if let Err(error) = rustix::thread::sched_setaffinity(None, &set) {
        tracing::debug!(%error, cpu, "A thread cannot be kept on its CPU.");
    }
}

async fn run(index: usize, gateway: Arc<Gateway>, mut orders: UnboundedReceiver<CoreOrder>) {
    jk_channel::enter_core(index);
    let stack = Stack::new(gateway);
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut beat = tokio::time::interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let first_awake = front::first_awake();
    loop {
        tokio::select! {
            order = orders.recv() => match order {
                Some(CoreOrder::Tcp(front, socket)) => {
                    tokio::spawn(front.accept_tcp(socket, Arc::clone(&stack)));
                }
                Some(CoreOrder::Unix(front, socket)) => {
                    tokio::spawn(front.accept_unix(socket, Arc::clone(&stack)));
                }
                Some(CoreOrder::Drain) => {
                    stack.drain();
                    front::drain();
                }
                Some(CoreOrder::Stop) | None => return,
            },
            _ = beat.tick(), if front::any_awake() => front::sweep_awake(),
            // Only to look at the condition above again.
            () = first_awake.notified() => {}
            _ = tick.tick() => {
                front::sweep_parked();
                tokio::spawn(maintain_pools(Arc::clone(&stack)));
            }
        }
    }
}

async fn maintain_pools(stack: Arc<Stack>) {
    // Also lets go of an old plan when no request does.
    let plan = stack.plan();
    for worker in plan.workers.values() {
        worker.pool.maintain(&worker.spec.channel).await;
    }
}

/// How often clients' time limits and idle channels are looked at.
/// Between two looks at everything.
const TICK: Duration = Duration::from_millis(500);

/// Between two looks at the connections that hold memory.
const BEAT: Duration = Duration::from_millis(25);
