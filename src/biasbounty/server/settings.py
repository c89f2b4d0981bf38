"""Settings: how much of everything the server takes from strangers. Each has a bound, so memory has one too."""

from dataclasses import dataclass

from biasbounty.errors import SettingsError
from biasbounty.exchange.auditing.reading import MOST_BYTES

MEGABYTE = 2**20


@dataclass(frozen=True)
class Settings:
    """What the server takes, and how long it waits.

    Args:
        most_model_bytes: How large a model or a group may be.
        most_data_bytes: How large an organizer's data may be, all files together.
        most_json_bytes: How large a body of JSON, or a field of text, may be.
        most_header_bytes: How large all headers of a request may be together.
        most_headers: How many headers a request may have.
        head_seconds: How long a client may take to send its headers.
        pause_seconds: How long a client may fall silent while it sends a body, or takes in an answer.
        grace_seconds: How long a body may take however small it is.
        bytes_per_second: How fast a body must come after that.
        requests_per_second: How many requests a token may make, over long.
        request_burst: How many it may make at once.
        address_requests_per_second: The same for an address, whatever tokens come from there.
        address_burst: How many it may make at once.
        most_known: How many tokens and addresses are remembered for this; the ones longest silent are forgotten.
        most_uploads_each: How many bodies a token may send at once.
        most_streams: How many streams of events are open at once.
        most_streams_each: How many of them go to one address.
        heartbeat_seconds: How often a silent stream says that it is there.
        stream_seconds: How long a stream lasts; the client then asks again, from where it was.
        poll_seconds: How often the server looks for new events, where somebody listens.
        most_connections: How many connections are open at once.
        threads: How many requests ask the database at once.
    """

    most_model_bytes: int = MOST_BYTES
    most_data_bytes: int = 512 * MEGABYTE
    most_json_bytes: int = 64 * 1024
    most_header_bytes: int = 16 * 1024
    most_headers: int = 100
    head_seconds: float = 10.0
    pause_seconds: float = 15.0
    grace_seconds: float = 30.0
    bytes_per_second: int = 20_000
    requests_per_second: float = 50.0
    request_burst: int = 200
    address_requests_per_second: float = 200.0
    address_burst: int = 1000
    most_known: int = 10_000
    most_uploads_each: int = 8
    most_streams: int = 200
    most_streams_each: int = 10
    heartbeat_seconds: float = 15.0
    stream_seconds: float = 3600.0
    poll_seconds: float = 0.1
    most_connections: int = 500
    threads: int = 10

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
                raise SettingsError(f"{name} is not usable: expected a number above 0, got {value!r:.40}")
