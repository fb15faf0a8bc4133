//! What both builders hold, and how a filter is created, opened and deleted with it.

use core::time::Duration;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tamis_formats::Normalization;
use tamis_hash::{AnyStable, ItemHasher, StableHasher, Xxh3};
use tokio::time::Instant;

use crate::calls::access::Access;
use crate::calls::shared::{Confirm, Shared};
use crate::calls::{create, destroy};
use crate::error::Error;
use crate::events::Events;
use crate::servers::address::Addresses;
use crate::servers::router::{NO_RIGHT, Router, Settings};
use crate::servers::tries::{Tries, after};
use crate::window::Window;
use crate::wire::commands;
use crate::wire::descriptor::Descriptor;
use crate::wire::name::Name;
use crate::wire::sizes::Sizes;
use crate::wire::tag::Identity;

/// The rate of a filter that is created without one.
const DEFAULT_RATE: f64 = 1e-4;

/// The capacity of a filter that is created without one.
const DEFAULT_CAPACITY: u64 = 1_000_000;

/// What both builders hold.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) addresses: Addresses,
    pub(crate) name: String,
    pub(crate) capacity: Option<u64>,
    pub(crate) rate: Option<f64>,
    pub(crate) shards: Option<u32>,
    pub(crate) grows: Option<bool>,
    pub(crate) window: Option<Duration>,
    pub(crate) hasher: Option<AnyStable>,
    pub(crate) normalization: Option<Normalization>,
    pub(crate) confirm: Option<Confirm>,
    pub(crate) settings: Settings,
}

impl Options {
    pub(crate) fn new(address: &str, name: &str) -> Self {
        Self {
            addresses: Addresses(vec![address.to_owned()]),
            name: name.to_owned(),
            capacity: None,
            rate: None,
            shards: None,
            grows: None,
            window: None,
            hasher: None,
            normalization: None,
            confirm: None,
            settings: Settings {
                timeout: Duration::from_secs(5),
                deadline: Duration::from_secs(30),
                replicas_read: false,
                events: Events::default(),
            },
        }
    }

    /// Connects. Returns also when the call ends.
    async fn connect(&self) -> Result<(Name, Arc<Router>, Instant), Error> {
        let name = Name::new(&self.name)?;
        let end = after(self.settings.deadline);
        let connected = Router::connect(&self.addresses.0, self.settings.clone(), end);
        Ok((name, self.settings.events.watched(end, connected).await?.into(), end))
    }

    /// Returns the descriptor of a new filter. The sizes are checked before anything is sent.
    fn describe(&self) -> Result<Descriptor, Error> {
        let rate = self.rate.unwrap_or(DEFAULT_RATE);
        let capacity = self.capacity.unwrap_or(DEFAULT_CAPACITY);
        let window = self.window.map(|span| Window::new(span, capacity)).transpose()?;
        let grows = self.grows.unwrap_or(true);
        let sizes = match window {
            Some(window) => window.sizes(rate, grows, self.shards)?,
            None => Sizes::new(capacity, rate, grows, self.shards)?,
        };
        let mut random = [0; 16];
        getrandom::fill(&mut random)
            .map_err(|error| Error::System { reason: error.to_string().into() })?;
        let [identity, seed] =
            [0, 8].map(|at| u64::from_le_bytes(core::array::from_fn(|byte| random[at + byte])));
        Ok(Descriptor {
            identity: Identity::of_random(identity),
            sizes,
            hasher: self.hasher.clone().unwrap_or_else(|| Xxh3::with_seed(seed).into()),
            normalization: self.normalization.unwrap_or_default(),
            window,
            ready: false,
        })
    }

    pub(crate) fn create(&self) -> BoxFuture<'_, Result<Shared, Error>> {
        Box::pin(async move {
            let descriptor = self.describe()?;
            let (name, router, end) = self.connect().await?;
            self.require_wait(Access { name: &name, router: &router, end }).await?;
            self.create_over(name, router, descriptor, end).await
        })
    }

    async fn create_over(
        &self,
        name: Name,
        router: Arc<Router>,
        descriptor: Descriptor,
        end: Instant,
    ) -> Result<Shared, Error> {
        let mut shared = Shared::new(name, descriptor, router, self.confirm);
        create::create(&mut shared, end).await?;
        Ok(shared)
    }

    /// Opens the filter. `created`: creates one by these options if there is none.
    pub(crate) fn open<'s>(
        &'s self,
        created: Option<&'s Self>,
    ) -> BoxFuture<'s, Result<Shared, Error>> {
        Box::pin(async move {
            if let Some(created) = created {
                created.describe()?;
            }
            let (name, router, end) = self.connect().await?;
            self.require_wait(Access { name: &name, router: &router, end }).await?;
            let open = async || self.try_open(created, name.clone(), router.clone(), end).await;
            let mut opened = open().await;
            let waited = async {
                let mut tries = Tries::new(end, router.events());
                while let Err(error @ (Error::Creating | Error::Replaced)) = &opened {
                    tries.pause(error.to_string()).await.map_err(|_| error.clone())?;
                    opened = open().await;
                }
                opened
            };
            router.events().watched(end, waited).await
        })
    }

    /// Opens the filter, or creates it, without a wait for another client that does so.
    async fn try_open(
        &self,
        created: Option<&Self>,
        name: Name,
        router: Arc<Router>,
        end: Instant,
    ) -> Result<Shared, Error> {
        let opened = self.open_over(name.clone(), router.clone(), end).await;
        let Some(created) = created else { return opened };
        if !matches!(opened, Err(Error::Missing | Error::Creating)) {
            return opened;
        }
        // If the client that creates it is silent for too long, this one takes its place.
        match created.create_over(name, router, created.describe()?, end).await {
            // Another client was faster, or is about to make the filter ready.
            Err(Error::Exists) => Err(Error::Creating),
            other => other,
        }
    }

    async fn open_over(
        &self,
        name: Name,
        router: Arc<Router>,
        end: Instant,
    ) -> Result<Shared, Error> {
        let descriptor = create::describe(Access { name: &name, router: &router, end }).await?;
        // Its client may have been killed: then a filter with other parameters takes its place.
        if !descriptor.ready {
            return Err(Error::Creating);
        }
        self.require_same(&descriptor)?;
        let shared = Shared::new(name, descriptor, router, self.confirm);
        create::open(shared.call_until(end)).await?;
        Ok(shared)
    }

    pub(crate) fn destroy(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let (name, router, end) = self.connect().await?;
            destroy::destroy(Access { name: &name, router: &router, end }).await
        })
    }

    /// Returns an error if inserts are to wait for replicas, and the user has no right to. An
    /// insert could only say that none has confirmed.
    async fn require_wait(&self, access: Access<'_>) -> Result<(), Error> {
        if self.confirm.is_none() {
            return Ok(());
        }
        // For no replica, it does not wait.
        match access.descriptor(commands::wait(0, Duration::ZERO)).await {
            Err(Error::Refused { reason }) if reason.contains(NO_RIGHT) => {
                Err(Error::Refused { reason })
            }
            _ => Ok(()),
        }
    }

    /// Returns an error if a parameter was given, and the filter has another.
    fn require_same(&self, found: &Descriptor) -> Result<(), Error> {
        let require = |field, found: String, expected: Option<String>| match expected {
            Some(expected) if expected != found => {
                Err(Error::Parameters { field, found: found.into(), expected: expected.into() })
            }
            _ => Ok(()),
        };
        let (shards, rate) = (found.sizes.shards, found.rate());
        require(
            "capacity",
            found.capacity().to_string(),
            self.capacity.map(|n| n.max(1).to_string()),
        )?;
        require("false-positive rate", rate.to_string(), self.rate.map(|rate| rate.to_string()))?;
        require("number of shards", shards.to_string(), self.shards.map(|n| n.to_string()))?;
        let growth = |grows: bool| if grows { "growing" } else { "fixed" }.to_owned();
        require("growth", growth(found.sizes.grows()), self.grows.map(growth))?;
        let span = |window: Window| format!("{:?}", window.span());
        let found_span = found.window.map_or_else(|| "none".to_owned(), span);
        let capacity = found.capacity();
        let window = self.window.map(|span| Window::new(span, capacity)).transpose()?;
        require("window", found_span, window.map(span))?;
        require(
            "policy",
            format!("{:?}", found.normalization.name()),
            self.normalization.map(|normalization| format!("{:?}", normalization.name())),
        )?;
        let Some(hasher) = &self.hasher else { return Ok(()) };
        let algorithm = |hasher: &AnyStable| hasher.algorithm().name().to_owned();
        require("hash", algorithm(&found.hasher), Some(algorithm(hasher)))?;
        // The seeds are secret.
        let same = hasher.hash_probe() == found.hasher.hash_probe();
        require("seed", if same { "the same" } else { "another" }.into(), Some("the same".into()))
    }
}
